// One unary call on a completion queue, from arrival to the end of its answer, as bytes both ways.
//
// Lifecycle: posted -> arrived -> finished -> deleted. Posted: waits in gRPC for a call to come. Arrived: the handler
// has it. Finished: Finish was called, once. Deleted, by itself, when gRPC has told both that the answer is out (or
// lost) and that the call is over.

#ifndef CVAE_SERVER_CALL_H_
#define CVAE_SERVER_CALL_H_

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/support/async_unary_call.h"
#include "server/counters.h"
#include "server/job.h"
#include "server/tag.h"
#include "server/unread.h"

namespace cvae {

class Call {
 public:
  using Responder = grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>;
  // Asks gRPC for the next call of a method.
  using Request =
      std::function<void(grpc::ServerContext*, grpc::ByteBuffer*, Responder*, grpc::ServerCompletionQueue*, void* tag)>;

  // A method of a service, as calls see it. Outlives them.
  struct Method {
    Method(const char* method_name, Request method_request, std::function<void(Call&)> handler,
           UnreadAnswers* unread_answers)
        : name(method_name), request(std::move(method_request)), handle(std::move(handler)), unread(unread_answers) {}

    const char* const name;
    const Request request;
    // Takes an arrived call: must see to it that Finish is called once, now or later. On a queue's thread: never
    // blocks.
    const std::function<void(Call&)> handle;
    UnreadAnswers* const unread;  // not null
    MethodCounters counters;
  };

  // Posts a call. It posts its successor when it arrives, and nothing once the server shuts down.
  static void Post(Method& method, grpc::ServerCompletionQueue* queue) { new Call(method, queue); }

  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // --- The handler, on the queue's thread.

  grpc::ServerContext& context() { return context_; }
  grpc::ByteBuffer& request() { return request_; }
  Method& method() { return method_; }
  // The connection it came on.
  Connection connection() const { return connection_; }
  // Keeps the call's job until the call is deleted. `cancel` is called, with the job alive, if the client gives the
  // call up.
  void KeepJob(std::unique_ptr<Job> job, std::function<void()> cancel) {
    job_ = std::move(job);
    cancel_ = std::move(cancel);
  }

  // --- Any thread, once.

  // Sends the answer. The call may be gone afterwards.
  void Finish(const grpc::ByteBuffer& answer);
  // Sends the error. The call may be gone afterwards.
  void Finish(const absl::Status& error);

 private:
  Call(Method& method, grpc::ServerCompletionQueue* queue);
  ~Call() = default;

  void OnArrived(bool ok);
  void OnFinished(bool ok);
  void OnOver(bool ok);
  void Release();

  Method& method_;
  grpc::ServerCompletionQueue* const queue_;
  Tag arrived_;
  Tag finished_;
  Tag over_;
  grpc::ServerContext context_;
  grpc::ByteBuffer request_;
  Responder responder_;
  Connection connection_ = nullptr;
  std::unique_ptr<Job> job_;
  std::function<void()> cancel_;
  uint64_t answer_bytes_ = 0;               // the finisher's, then OnFinished's
  std::atomic<bool> finish_called_{false};  // hands what the finisher wrote to OnFinished
  std::atomic<int> references_{2};          // OnFinished and OnOver still to come
};

}  // namespace cvae

#endif  // CVAE_SERVER_CALL_H_
