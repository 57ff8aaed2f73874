// A set in chunks is the set in one call, bit for bit.

#include "client/chunks.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "client/loss_terms.h"
#include "client/matrix.h"
#include "client/request_rows.h"
#include "client/status_details.h"
#include "gtest/gtest.h"
#include "tests/client/fake_service.h"

namespace cvae {
namespace {

constexpr uint32_t kRows = 23;

std::vector<float> Numbers(size_t size, float scale) {
  std::vector<float> numbers(size);
  for (size_t i = 0; i < size; ++i) numbers[i] = scale * std::sin(static_cast<float>(i));
  return numbers;
}

template <typename Request>
Request WithRows() {
  Request request;
  *request.mutable_x() = MakeMatrix(kRows, kD, Numbers(kRows * kD, 1));
  for (uint32_t i = 0; i < kRows; ++i) request.add_labels(i * 7 % kL);
  request.set_first_row(1000);
  return request;
}

ChunkOptions Of(uint64_t rows, int in_flight = 4) {
  ChunkOptions options;
  options.rows = rows;
  options.in_flight = in_flight;
  return options;
}

// Sends `request` whole and in chunks of several sizes: the same bytes each time.
template <typename Request>
void ExpectSame(FakeService& service, const Request& request) {
  const Client client(service.target());
  const auto whole = CallInChunks(client, service.model(), request, Of(kRows));
  ASSERT_TRUE(whole.ok()) << whole.status();
  ASSERT_EQ(service.calls().size(), 1u);
  for (const uint64_t rows : {1, 7, 22}) {
    for (const int in_flight : {1, 4}) {
      const auto chunked = CallInChunks(client, service.model(), request, Of(rows, in_flight));
      ASSERT_TRUE(chunked.ok()) << chunked.status();
      EXPECT_EQ(whole->SerializeAsString(), chunked->SerializeAsString()) << "chunks of " << rows;
    }
  }
  EXPECT_EQ(service.calls().size(), 1u + 2 * (23 + 4 + 2));
}

TEST(ChunksTest, Encode) {
  FakeService service;
  ExpectSame(service, WithRows<v1::EncodeRequest>());
}

TEST(ChunksTest, EncodeInValues) {
  FakeService service;
  auto request = WithRows<v1::EncodeRequest>();
  const std::vector<float> x = MatrixValues(request.x());
  request.mutable_x()->Clear();  // neither rows nor cols: the model says them
  request.mutable_x()->mutable_values()->Add(x.begin(), x.end());
  request.set_encoding(v1::Matrix::VALUES);
  ExpectSame(service, request);
}

TEST(ChunksTest, ReconstructWithEverything) {
  FakeService service;
  auto request = WithRows<v1::ReconstructRequest>();
  request.set_seed(5);
  request.set_return_z(true);
  request.set_return_loss(true);
  request.set_per_row(true);
  request.set_per_column(true);
  request.set_per_latent(true);
  *request.mutable_target() = MakeMatrix(kRows, kD, Numbers(kRows * kD, 2));
  *request.mutable_decode_condition()->mutable_y() = MakeMatrix(kRows, kL, Numbers(kRows * kL, 1));
  ExpectSame(service, request);
}

TEST(ChunksTest, ReconstructWithoutLoss) {
  FakeService service;
  auto request = WithRows<v1::ReconstructRequest>();
  request.mutable_mean();
  ExpectSame(service, request);
}

TEST(ChunksTest, LossOfSeveralSamples) {
  FakeService service;
  auto request = WithRows<v1::LossRequest>();
  request.set_seed(std::numeric_limits<uint64_t>::max());
  request.set_num_samples(3);
  request.set_per_column(true);
  ExpectSame(service, request);  // row terms are asked for by the chunks alone, and not answered
}

TEST(ChunksTest, LossAsSums) {
  FakeService service;
  service.model().set_description(R"({"loss":{"reduce":"sum"}})");
  auto request = WithRows<v1::LossRequest>();
  request.set_per_row(true);
  *request.mutable_eps() = MakeMatrix(kRows, kZ, Numbers(kRows * kZ, 1));
  ExpectSame(service, request);
}

TEST(ChunksTest, LossThatIsNotFinite) {
  FakeService service;
  auto request = WithRows<v1::LossRequest>();
  std::vector<float> x = MatrixValues(request.x());
  x[7 * kD] = -std::numeric_limits<float>::quiet_NaN();
  *request.mutable_x() = MakeMatrix(kRows, kD, x);
  request.mutable_mean();
  ExpectSame(service, request);
}

TEST(ChunksTest, DecodeUnderParts) {
  FakeService service;
  v1::DecodeRequest request;
  *request.mutable_z() = MakeMatrix(kRows, kZ, Numbers(kRows * kZ, 1));
  for (uint32_t i = 0; i < kRows; ++i) (*request.mutable_parts())["digit"].add_ids(i % kL);
  ExpectSame(service, request);
}

TEST(ChunksTest, GenerateSamples) {
  FakeService service;
  v1::GenerateRequest request;
  *request.mutable_y() = MakeMatrix(kRows, kL, Numbers(kRows * kL, 1));
  request.set_seed(3);
  request.set_samples_per_row(4);
  request.set_return_z(true);
  ExpectSame(service, request);
}

TEST(ChunksTest, GenerateWithoutConditionAndFromEps) {
  FakeService service;
  service.model().set_label_dim(0);
  service.model().clear_condition();
  v1::GenerateRequest request;
  request.set_rows(kRows);
  request.set_samples_per_row(2);
  *request.mutable_eps() = MakeMatrix(kRows * 2, kZ, Numbers(kRows * 2 * kZ, 1));
  ExpectSame(service, request);
}

TEST(ChunksTest, ChunksCoverTheRowsOnce) {
  FakeService service;
  const Client client(service.target());
  ASSERT_TRUE(CallInChunks(client, service.model(), WithRows<v1::EncodeRequest>(), Of(10)).ok());
  const std::vector<std::pair<uint64_t, uint64_t>> expected = {{1000, 10}, {1010, 10}, {1020, 3}};
  EXPECT_EQ(service.calls(), expected);
}

TEST(ChunksTest, OneSeedForAllChunksWhereNoneIsGiven) {
  FakeService service;
  const Client client(service.target());
  v1::GenerateRequest request;
  for (uint32_t i = 0; i < kRows; ++i) request.add_labels(0);
  const auto first = CallInChunks(client, service.model(), request, Of(5));
  ASSERT_TRUE(first->has_seed());
  request.set_seed(first->seed());
  EXPECT_EQ(CallInChunks(client, service.model(), request, Of(kRows))->SerializeAsString(), first->SerializeAsString());
  request.clear_noise();
  EXPECT_NE(CallInChunks(client, service.model(), request, Of(5))->seed(), first->seed());
}

TEST(ChunksTest, NoSeedWhereTheModelSaysMean) {
  FakeService service;
  service.model().set_default_noise(v1::GetModelResponse::MEAN);
  const Client client(service.target());
  ASSERT_TRUE(CallInChunks(client, service.model(), WithRows<v1::LossRequest>(), Of(5)).ok());
  EXPECT_FALSE(service.last_loss().has_seed());
  auto several = WithRows<v1::LossRequest>();
  several.set_num_samples(2);
  ASSERT_TRUE(CallInChunks(client, service.model(), several, Of(5)).ok());
  EXPECT_TRUE(service.last_loss().has_seed());
}

TEST(ChunksTest, ErrorsNameTheRows) {
  FakeService service;
  service.Refuse(Refusal(grpc::StatusCode::INVALID_ARGUMENT, "x: row 0, column 3 is NaN", -1, "x"), 1, 1);
  const auto response =
      CallInChunks(Client(service.target()), service.model(), WithRows<v1::EncodeRequest>(), Of(10, 1));
  EXPECT_EQ(response.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(response.status().message(), "rows 10 to 19: x: row 0, column 3 is NaN");
  EXPECT_EQ(FieldViolations(response.status()).size(), 1u);
  EXPECT_EQ(service.attempts(), 2);  // and nothing is sent after it
}

TEST(ChunksTest, AModelThatChangesInBetween) {
  FakeService service;
  service.ChangeVersion(2);
  const auto response =
      CallInChunks(Client(service.target()), service.model(), WithRows<v1::EncodeRequest>(), Of(5, 1));
  EXPECT_EQ(response.status().code(), absl::StatusCode::kAborted) << response.status();
}

TEST(ChunksTest, ProgressIsToldInOrder) {
  FakeService service;
  std::vector<uint64_t> done;
  ChunkOptions options = Of(10);
  options.progress = [&done](uint64_t rows, uint64_t total) {
    EXPECT_EQ(total, kRows);
    done.push_back(rows);
  };
  ASSERT_TRUE(CallInChunks(Client(service.target()), service.model(), WithRows<v1::EncodeRequest>(), options).ok());
  EXPECT_EQ(done, (std::vector<uint64_t>{10, 20, 23}));
}

TEST(ChunksTest, FieldsThatDisagreeAreRefusedBeforeAnyCall) {
  FakeService service;
  const Client client(service.target());
  const auto error = [&](auto change) {
    auto request = WithRows<v1::LossRequest>();
    change(request);
    const auto status = CallInChunks(client, service.model(), request, Of(5)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(error([](auto& r) { r.add_labels(0); }), "labels: got 24, the request has 23 rows");
  EXPECT_EQ(error([](auto& r) { *r.mutable_eps() = MakeMatrix(22, kZ, Numbers(22 * kZ, 1)); }),
            "eps.rows: got 22, expected 23");
  EXPECT_EQ(error([](auto& r) { r.mutable_target()->set_data("12345678"); }), "target: got 2 numbers for 23 rows");
  EXPECT_EQ(error([](auto& r) { r.clear_x(); }), "x: got no rows");
  EXPECT_EQ(error([](auto& r) { r.mutable_x()->set_cols(17); }), "x: got 368 numbers for 23 rows of 17");
  EXPECT_EQ(error([](auto& r) { (*r.mutable_parts())["p"].add_names("n"); }),
            "parts[\"p\"].names: got 1, the request has 23 rows");
  EXPECT_EQ(error([](auto& r) { r.set_first_row(-3); }), "first_row: 18446744073709551613 + 23 rows exceed 2^64 - 1");
  v1::GenerateRequest none;
  EXPECT_EQ(CallInChunks(client, service.model(), none).status().message(), "the request has no rows");
  EXPECT_EQ(service.attempts(), 0);
}

// Every field of rows must be cut: one that is added to the proto and forgotten here would be sent whole with each
// chunk.
template <typename Request>
void ExpectEveryMatrixIsCut() {
  const std::vector<std::string> known = {"x", "z", "y", "eps", "target"};
  const auto* descriptor = Request::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const auto* field = descriptor->field(i);
    if (field->message_type() != v1::Matrix::descriptor()) continue;
    EXPECT_NE(std::find(known.begin(), known.end(), field->name()), known.end()) << field->full_name();
  }
}

TEST(ChunksTest, EveryMatrixOfARequestIsCut) {
  ExpectEveryMatrixIsCut<v1::EncodeRequest>();
  ExpectEveryMatrixIsCut<v1::ReconstructRequest>();
  ExpectEveryMatrixIsCut<v1::LossRequest>();
  ExpectEveryMatrixIsCut<v1::DecodeRequest>();
  ExpectEveryMatrixIsCut<v1::GenerateRequest>();
}

TEST(ChunkRowsTest, KeepsEveryLimit) {
  RowCost cost;
  cost.request_bytes = 1000;
  cost.answer_bytes = 4000;
  EXPECT_EQ(ChunkRows(cost, {}), (2u << 20) / 4000);
  v1::Limits limits;
  limits.set_answer_bytes(400000);
  EXPECT_EQ(ChunkRows(cost, limits), 100u);
  limits.set_request_bytes(51000);
  cost.request_fixed_bytes = 1000;
  EXPECT_EQ(ChunkRows(cost, limits), 50u);
  limits.set_rows(60);
  cost.computed_rows = 6;
  EXPECT_EQ(ChunkRows(cost, limits), 10u);
  limits.set_rows(1);
  EXPECT_EQ(ChunkRows(cost, limits), 1u);  // never 0: the server then says what is wrong
  limits.set_request_bytes(10);
  EXPECT_EQ(ChunkRows(cost, limits), 1u);
}

TEST(ChunkRowsTest, ARequestIsNeverLargerThanWasPlanned) {
  auto message = WithRows<v1::LossRequest>();
  message.clear_labels();
  for (uint32_t i = 0; i < kRows; ++i) (*message.mutable_parts())["digit"].add_names(std::string(i, 'n'));
  for (uint32_t i = 0; i < kRows; ++i) (*message.mutable_parts())["tilt"].add_ids(0xffffffff);
  *message.mutable_eps() = MakeMatrix(kRows, kZ, Numbers(kRows * kZ, 1));
  const auto request = rows::RowRequest<v1::LossRequest>::Make(message, FakeService().model());
  ASSERT_TRUE(request.ok()) << request.status();
  const uint64_t planned = request->RequestFixedBytes() + kRows * request->RequestRowBytes();
  EXPECT_LE(message.ByteSizeLong(), planned);
  EXPECT_EQ(request->Slice(0, kRows).SerializeAsString().size(), message.ByteSizeLong());
}

TEST(LossTermsTest, SumsAscendingInDouble) {
  std::vector<float> recon, kl;
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    recon.push_back(static_cast<float>(std::exp(std::sin(i) * 20)));
    kl.push_back(1);
    sum += recon.back();
  }
  const LossTerms terms = CombineLoss(recon, kl, {.recon_weight = 0.1, .kl_weight = 3, .sum = false});
  EXPECT_EQ(terms.recon_loss, sum / 1000);
  EXPECT_EQ(terms.kl_loss, 1);
  EXPECT_EQ(terms.loss, 0.1 * (sum / 1000) + 3);
  EXPECT_EQ(CombineLoss(recon, kl, {.recon_weight = 1, .kl_weight = 0, .sum = true}).loss, sum);
}

TEST(LossTermsTest, OneNan) {
  const std::vector<float> nan = {-std::numeric_limits<float>::quiet_NaN()};
  const LossTerms terms = CombineLoss(nan, nan, {});
  for (const double term : {terms.loss, terms.recon_loss, terms.kl_loss}) {
    uint64_t bits;
    std::memcpy(&bits, &term, sizeof(bits));
    EXPECT_EQ(bits, 0x7ff8000000000000u);
  }
}

TEST(LossTermsTest, RuleOfADescription) {
  const auto rule = ParseLossRule(R"({"loss":{"recon_weight":0.25,"kl_weight":2,"reduce":"sum"}})");
  ASSERT_TRUE(rule.ok());
  EXPECT_EQ(rule->recon_weight, 0.25);
  EXPECT_EQ(rule->kl_weight, 2);
  EXPECT_TRUE(rule->sum);
  EXPECT_EQ(ParseLossRule("")->recon_weight, 1);
  EXPECT_FALSE(ParseLossRule("{}")->sum);
  EXPECT_EQ(ParseLossRule("[1").status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(ParseLossRule(R"({"loss":{"kl_weight":"2"}})").status().code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace cvae
