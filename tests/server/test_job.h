// A job that computes nothing and remembers how it was finished.

#ifndef CVAE_TESTS_SERVER_TEST_JOB_H_
#define CVAE_TESTS_SERVER_TEST_JOB_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "server/job.h"

namespace cvae {

class TestJob : public Job {
 public:
  explicit TestJob(uint64_t job_rows, uint64_t job_bytes = 1) {
    rows = job_rows;
    bytes = job_bytes;
    finish = [this](absl::Status status) { finished.push_back(std::move(status)); };
  }

  std::vector<absl::Status> finished;

 private:
  void Allocate(RowSpan*) override {}
};

}  // namespace cvae

#endif  // CVAE_TESTS_SERVER_TEST_JOB_H_
