#include "client/command/progress.h"

#include <string>

namespace cvae {

Progress::~Progress() {
  if (shown_) out_ << "\r\033[K" << std::flush;
}

void Progress::Show(uint64_t done, uint64_t total) {
  if (!terminal_ || total == 0) return;
  constexpr int kWidth = 40;
  const double part = static_cast<double>(done) / static_cast<double>(total);
  const int filled = static_cast<int>(part * kWidth);
  out_ << "\r[" << std::string(filled, '#') << std::string(kWidth - filled, '.') << "] " << static_cast<int>(part * 100)
       << "%  " << done << "/" << total << " rows" << std::flush;
  shown_ = true;
}

}  // namespace cvae
