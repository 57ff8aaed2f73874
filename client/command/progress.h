// A bar on the terminal that says how far a long call is.

#ifndef CVAE_CLIENT_COMMAND_PROGRESS_H_
#define CVAE_CLIENT_COMMAND_PROGRESS_H_

#include <cstdint>
#include <ostream>

namespace cvae {

// Draws over one line of `out`, and takes it away again when destroyed. Says nothing at all unless `terminal`.
class Progress {
 public:
  Progress(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` of `total` rows are answered.
  void Show(uint64_t done, uint64_t total);

 private:
  std::ostream& out_;
  const bool terminal_;
  bool shown_ = false;
};

}  // namespace cvae

#endif  // CVAE_CLIENT_COMMAND_PROGRESS_H_
