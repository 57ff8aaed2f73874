#include "server/served_model.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "server/gather.h"

namespace cvae {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kVersionDigestDigits = 12;

std::string VersionOf(const Model& model, const EngineInfo& info) {
  return absl::StrCat(model.sha256.substr(0, kVersionDigestDigits), "-", info.revision);
}

// Decodes zeros: touches the weights and the scratch of a session.
absl::Status Warm(const Model& model, Session& session) {
  StagingArena arena(session.staging());
  RowSpan span;
  span.pass = Pass::kDecode;
  span.count = 1;
  if (model.condition_width > 0) {
    float* y = arena.Take<float>(model.condition_width);
    std::fill_n(y, model.condition_width, 0.0f);
    span.decode_condition.y = y;
  }
  std::vector<float> x_hat(model.output_width);
  span.x_hat = x_hat.data();
  return session.Run({&span, 1});
}

}  // namespace

absl::StatusOr<std::unique_ptr<ServedModel>> ServedModel::Start(std::string name, std::unique_ptr<Engine> engine,
                                                                Options options) {
  std::shared_ptr<const Model> model = engine->shared_model();
  ModelFacts facts(std::move(name), VersionOf(*model, engine->Describe()), model, options.limits);
  // An engine deals its sessions out to its devices in turn.
  const int lanes = options.lanes * engine->Describe().devices;
  options.batcher.scheduler.lanes = lanes;
  const int max_batch_rows = static_cast<int>(options.batcher.scheduler.max_batch_rows);
  std::unique_ptr<ServedModel> served(new ServedModel(std::move(facts), std::move(engine), std::move(options)));
  for (int i = 0; i < lanes; ++i) {
    CVAE_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, served->engine_->NewSession(max_batch_rows));
    CVAE_RETURN_IF_ERROR(Warm(*model, *session));
    served->sessions_.push_back(std::move(session));
  }
  for (const std::unique_ptr<Session>& session : served->sessions_) {
    served->threads_.emplace_back([raw = served.get(), &session] { raw->RunLane(*session); });
  }
  served->threads_.emplace_back([raw = served.get()] { raw->batcher_.Watch(); });
  return served;
}

ServedModel::ServedModel(ModelFacts facts, std::unique_ptr<Engine> engine, Options options)
    : facts_(std::move(facts)),
      on_fault_(std::move(options.on_fault)),
      engine_(std::move(engine)),
      engine_info_(engine_->Describe()),
      batcher_(std::move(options.batcher)) {}

ServedModel::~ServedModel() { Stop(); }

void ServedModel::Cancel(Job* job) {
  job->Cancel();
  batcher_.Withdraw(job, batcher_.WorthLaunching(*job));  // gRPC cancels a call, too, when its deadline passes
}

void ServedModel::Stop() {
  batcher_.Stop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void ServedModel::RunLane(Session& session) {
  for (std::vector<Piece> batch = batcher_.Pull(); !batch.empty(); batch = batcher_.Pull()) {
    const Clock::time_point start = Clock::now();
    const std::chrono::nanoseconds computing = RunBatch(batch, session);
    batcher_.BatchTook(Clock::now() - start, computing);
  }
}

std::chrono::nanoseconds ServedModel::RunBatch(const std::vector<Piece>& batch, Session& session) {
  StagingArena arena(session.staging());
  std::vector<RowSpan> gathered;
  std::vector<const Piece*> pieces;  // of those gathered
  for (const Piece& piece : batch) {
    absl::StatusOr<RowSpan> span = Gather(piece, *facts_.model, &arena);
    if (span.ok()) {
      gathered.push_back(*span);
      pieces.push_back(&piece);
    } else {
      batcher_.Withdraw(piece.job, span.status(), piece.count);
    }
  }
  // Once more, since gathering takes a while.
  std::vector<RowSpan> spans;
  std::vector<const Piece*> launched;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (absl::Status why = batcher_.WorthLaunching(*pieces[i]->job); !why.ok()) {
      batcher_.Withdraw(pieces[i]->job, why, pieces[i]->count);
    } else {
      spans.push_back(gathered[i]);
      launched.push_back(pieces[i]);
    }
  }
  if (spans.empty()) return {};
  const Clock::time_point start = Clock::now();
  const absl::Status status = session.Run(spans);
  const Clock::time_point end = Clock::now();
  if (!status.ok() && on_fault_) on_fault_(status);
  for (const Piece* piece : launched) {
    if (status.ok()) {
      piece->job->Settle(piece->count, status);
    } else {
      batcher_.Withdraw(piece->job, status, piece->count);
    }
  }
  return end - start;
}

}  // namespace cvae
