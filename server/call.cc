#include "server/call.h"

#include "grpc/grpc_security.h"
#include "server/errors.h"

namespace cvae {
namespace {

// gRPC makes an authentication context for each connection, with credentials or without, and each of its calls holds
// it. The peer's name would not do: all clients of a Unix path have the same.
Connection ConnectionOf(grpc::ServerContext& context) {
  grpc_auth_context* const of_connection = grpc_call_auth_context(context.c_call());
  grpc_auth_context_release(of_connection);
  return of_connection;
}

}  // namespace

Call::Call(Method& method, grpc::ServerCompletionQueue* queue)
    : method_(method),
      queue_(queue),
      arrived_([this](bool ok) { OnArrived(ok); }),
      finished_([this](bool ok) { OnFinished(ok); }),
      over_([this](bool ok) { OnOver(ok); }),
      responder_(&context_) {
  context_.AsyncNotifyWhenDone(&over_);
  method_.request(&context_, &request_, &responder_, queue_, &arrived_);
}

void Call::OnArrived(bool ok) {
  if (!ok) {  // the server shuts down: no call came, and none of the other events will
    delete this;
    return;
  }
  Post(method_, queue_);
  connection_ = ConnectionOf(context_);
  method_.handle(*this);
}

void Call::Finish(const grpc::ByteBuffer& answer) {
  method_.counters.CountCall(absl::StatusCode::kOk);
  answer_bytes_ = answer.Length();
  method_.unread->Add(connection_, answer_bytes_);
  finish_called_.store(true, std::memory_order_release);
  const HandoverThroughGrpc handover;
  responder_.Finish(answer, grpc::Status::OK, &finished_);
}

void Call::Finish(const absl::Status& error) {
  method_.counters.CountCall(error.code());
  const grpc::Status status = ToGrpcStatus(error);
  finish_called_.store(true, std::memory_order_release);
  const HandoverThroughGrpc handover;
  responder_.FinishWithError(status, &finished_);
}

void Call::OnFinished(bool /*ok*/) {
  finish_called_.load(std::memory_order_acquire);
  method_.unread->Remove(connection_, answer_bytes_);
  Release();
}

void Call::OnOver(bool /*ok*/) {
  if (context_.IsCancelled() && cancel_) cancel_();
  Release();
}

void Call::Release() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

}  // namespace cvae
