#include "server/cvae_service.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "server/caller.h"
#include "server/compute_job.h"
#include "server/describe.h"
#include "server/errors.h"
#include "server/messages.h"

namespace cvae {
namespace {

// gRPC tells deadlines on the system clock; ours run on the steady one.
Job::TimePoint SteadyDeadline(std::chrono::system_clock::time_point deadline) {
  if (deadline == std::chrono::system_clock::time_point::max()) return Job::TimePoint::max();
  const auto left = deadline - std::chrono::system_clock::now();
  const Job::TimePoint now = std::chrono::steady_clock::now();
  return left > Job::TimePoint::max() - now ? Job::TimePoint::max()
                                            : now + std::chrono::duration_cast<Job::TimePoint::duration>(left);
}

}  // namespace

// Every method takes and gives bytes: parsing them is ours, with an error that says what is wrong.
class CvaeFrontend::Service final
    : public v1::CvaeService::WithRawMethod_Encode<v1::CvaeService::WithRawMethod_Reconstruct<
          v1::CvaeService::WithRawMethod_Loss<v1::CvaeService::WithRawMethod_Decode<
              v1::CvaeService::WithRawMethod_Generate<v1::CvaeService::WithRawMethod_GetModel<
                  v1::CvaeService::WithRawMethod_ListModels<v1::CvaeService::Service>>>>>>> {};

CvaeFrontend::CvaeFrontend(const std::vector<std::unique_ptr<ServedModel>>& models, UnreadAnswers* unread,
                           std::string client_key_header)
    : models_(models),
      unread_(unread),
      client_key_header_(std::move(client_key_header)),
      service_(std::make_unique<Service>()) {
  const auto add = [this](const char* name, auto request_method, void (CvaeFrontend::*handle)(Call&)) {
    auto request = [service = service_.get(), request_method](grpc::ServerContext* context, grpc::ByteBuffer* request,
                                                              Call::Responder* responder,
                                                              grpc::ServerCompletionQueue* queue, void* tag) {
      (service->*request_method)(context, request, responder, queue, queue, tag);
    };
    auto guarded = [this, handle](Call& call) {
      if (absl::Status status = Admit(call); !status.ok()) {
        call.Finish(status);
      } else {
        (this->*handle)(call);
      }
    };
    methods_.push_back(std::make_unique<Call::Method>(name, std::move(request), std::move(guarded), unread_));
  };
  add("Encode", &Service::RequestEncode, &CvaeFrontend::HandleCompute<v1::EncodeRequest>);
  add("Reconstruct", &Service::RequestReconstruct, &CvaeFrontend::HandleCompute<v1::ReconstructRequest>);
  add("Loss", &Service::RequestLoss, &CvaeFrontend::HandleCompute<v1::LossRequest>);
  add("Decode", &Service::RequestDecode, &CvaeFrontend::HandleCompute<v1::DecodeRequest>);
  add("Generate", &Service::RequestGenerate, &CvaeFrontend::HandleCompute<v1::GenerateRequest>);
  add("GetModel", &Service::RequestGetModel, &CvaeFrontend::HandleGetModel);
  add("ListModels", &Service::RequestListModels, &CvaeFrontend::HandleListModels);
}

CvaeFrontend::~CvaeFrontend() = default;

grpc::Service* CvaeFrontend::service() { return service_.get(); }

void CvaeFrontend::Serve(grpc::ServerCompletionQueue* queue, int posted_calls) {
  for (const std::unique_ptr<Call::Method>& method : methods_) {
    for (int i = 0; i < posted_calls; ++i) Call::Post(*method, queue);
  }
}

absl::StatusOr<ServedModel*> CvaeFrontend::Find(const std::string& name) const {
  if (name.empty() && models_.size() == 1) return models_.front().get();
  std::vector<std::string> names;
  for (const std::unique_ptr<ServedModel>& model : models_) {
    if (model->facts().name == name) return model.get();
    names.push_back(model->facts().name);
  }
  if (name.empty()) {
    return FieldError("model",
                      absl::StrCat("missing: this server has ", models_.size(), " models: ", QuotedList(names)));
  }
  return absl::NotFoundError(absl::StrCat("model: got ", Quote(name), ", known are ", QuotedList(names)));
}

absl::Status CvaeFrontend::Admit(const Call& call) const {
  {
    MutexLock lock(mutex_);
    if (!refusing_.ok()) return refusing_;
  }
  return unread_->Admit(call.connection());
}

template <class Request>
void CvaeFrontend::HandleCompute(Call& call) {
  if (absl::Status status = StartCompute<Request>(call); !status.ok()) call.Finish(status);
}

template <class Request>
absl::Status CvaeFrontend::StartCompute(Call& call) {
  CVAE_ASSIGN_OR_RETURN(const Priority priority, PriorityOf(call));
  Request request;
  CVAE_RETURN_IF_ERROR(ParseMessage(&call.request(), &request));
  CVAE_ASSIGN_OR_RETURN(ServedModel * model, Find(request.model()));
  CVAE_ASSIGN_OR_RETURN(std::unique_ptr<ComputeJob> job, NewJob(std::move(request), model->facts()));
  job->deadline = SteadyDeadline(call.context().deadline());
  job->client = ClientOf(call, client_key_header_);
  job->priority = priority;
  job->finish = [this, &call, raw = job.get()](absl::Status status) {
    if (status.ok()) {
      call.method().counters.CountRows(raw->computed_rows());
      call.Finish(raw->Answer());
    } else {
      call.Finish(status);
    }
    EndCall();
  };
  Job* raw = job.get();
  call.KeepJob(std::move(job), [model, raw] { model->Cancel(raw); });
  BeginCall();
  absl::Status status = model->Submit(raw);
  if (!status.ok()) EndCall();
  return status;
}

void CvaeFrontend::HandleGetModel(Call& call) {
  v1::GetModelRequest request;
  absl::Status status = ParseMessage(&call.request(), &request);
  if (!status.ok()) return call.Finish(status);
  absl::StatusOr<ServedModel*> model = Find(request.model());
  if (!model.ok()) return call.Finish(model.status());
  call.Finish(SerializeMessage(DescribeModel((*model)->facts(), (*model)->engine_info())));
}

void CvaeFrontend::HandleListModels(Call& call) {
  v1::ListModelsRequest request;
  absl::Status status = ParseMessage(&call.request(), &request);
  if (!status.ok()) return call.Finish(status);
  v1::ListModelsResponse response;
  for (const std::unique_ptr<ServedModel>& model : models_) *response.add_models() = SummarizeModel(model->facts());
  call.Finish(SerializeMessage(response));
}

void CvaeFrontend::AddCounts(Counts* counts) const {
  for (const std::unique_ptr<Call::Method>& method : methods_) {
    counts->methods.push_back(method->counters.Copy(method->name));
  }
  for (const std::unique_ptr<ServedModel>& model : models_) {
    counts->models.push_back({model->facts().name, model->counts()});
  }
  MutexLock lock(mutex_);
  counts->in_flight = calls_;
}

void CvaeFrontend::Refuse(const absl::Status& why) {
  MutexLock lock(mutex_);
  if (refusing_.ok()) refusing_ = why;
}

void CvaeFrontend::BeginCall() {
  MutexLock lock(mutex_);
  ++calls_;
}

void CvaeFrontend::EndCall() {
  MutexLock lock(mutex_);
  if (--calls_ == 0) idle_.NotifyAll();
}

bool CvaeFrontend::WaitForCalls(std::chrono::steady_clock::time_point deadline) {
  MutexLock lock(mutex_);
  while (calls_ > 0) {
    if (!idle_.WaitUntil(mutex_, deadline)) return calls_ == 0;
  }
  return true;
}

}  // namespace cvae
