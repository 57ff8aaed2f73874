#include "client/command/command.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/command/calls.h"
#include "client/command/draw.h"
#include "client/command/failure.h"
#include "client/command/info.h"
#include "client/command/inputs.h"
#include "client/command/options.h"
#include "client/command/output.h"
#include "client/command/progress.h"
#include "client/command/write_file.h"

namespace cvae {
namespace {

constexpr char kDefaultServer[] = "localhost:8001";

absl::Status Print(const std::string& text, const Terminal& terminal) {
  terminal.out << text << std::flush;
  return terminal.out.good() ? absl::OkStatus() : absl::UnknownError("standard output cannot be written");
}

// Writes the files that were asked for, and says the rest.
absl::Status WriteAnswer(const Options& options, const v1::GetModelResponse& model, const Inputs& inputs,
                         Answer& answer, const Terminal& terminal) {
  if (!options.picture.empty()) {
    CVAE_ASSIGN_OR_RETURN(const std::string png, DrawPicture(options, model, inputs, answer));
    CVAE_RETURN_IF_ERROR(WriteFile(options.picture, png));
    const uint64_t rows = answer.Find("x_hat")->shape[0];
    if (rows > kMaxImages) {
      terminal.err << "cvae: " << options.picture << " shows the first " << kMaxImages << " of " << rows << " rows\n";
    }
  }
  CVAE_RETURN_IF_ERROR(Mistake(KeepField(options.field, answer)));
  if (!options.out.empty()) {
    const auto bytes = FormatFile(options.out, answer);
    if (!bytes.ok()) return Mistake(bytes.status());
    CVAE_RETURN_IF_ERROR(WriteFile(options.out, *bytes));
  }
  const bool written = !options.out.empty() || !options.picture.empty();
  if (options.json) return Print(FormatJson(answer, options.out.empty()), terminal);
  return Print(written ? FormatSummary(answer) : FormatTable(answer), terminal);
}

absl::Status RunRows(const Client& client, const Options& options, const Inputs& inputs, const Terminal& terminal) {
  for (const std::string& path : {options.out, options.picture}) {
    if (!path.empty()) CVAE_RETURN_IF_ERROR(CheckWritable(path));
  }
  v1::GetModelRequest request;
  request.set_model(options.model);
  const absl::StatusOr<v1::GetModelResponse> model = client.GetModel(request);
  if (!model.ok()) return FromServer(model.status());
  CVAE_RETURN_IF_ERROR(CheckPicture(options, *model));
  ChunkOptions chunks;
  chunks.rows = options.chunk_rows;
  absl::StatusOr<Answer> answer;
  {
    Progress progress(terminal.err, terminal.err_is_terminal);
    chunks.progress = [&progress](uint64_t done, uint64_t total) { progress.Show(done, total); };
    answer = CallServer(client, *model, options, inputs, chunks);
  }
  if (!answer.ok()) return FromServer(answer.status());
  return WriteAnswer(options, *model, inputs, *answer, terminal);
}

absl::Status Run(const Options& options, const Terminal& terminal) {
  ClientOptions client_options;
  client_options.timeout = options.timeout;
  if (options.command == Command::kInfo) {
    const Client client(options.server, client_options);
    const absl::StatusOr<std::string> text = RunInfo(client, options);
    return text.ok() ? Print(*text, terminal) : FromServer(text.status());
  }
  const absl::StatusOr<Inputs> inputs = ReadInputs(options, terminal.in);
  if (!inputs.ok()) return Mistake(inputs.status());
  return RunRows(Client(options.server, client_options), options, *inputs, terminal);
}

}  // namespace

int RunCommand(const std::vector<std::string>& arguments, const std::string& default_server, const Terminal& terminal) {
  absl::StatusOr<CommandLine> line =
      ParseCommandLine(arguments, default_server.empty() ? kDefaultServer : default_server);
  absl::Status status = Mistake(line.status());
  if (status.ok()) status = line->text.empty() ? Run(line->options, terminal) : Print(line->text, terminal);
  if (!status.ok()) terminal.err << "cvae: " << Explain(status, line.ok() ? line->options : Options()) << std::endl;
  return ExitCode(status);
}

}  // namespace cvae
