// Protobuf messages to and from gRPC's byte buffers.

#ifndef CVAE_SERVER_MESSAGES_H_
#define CVAE_SERVER_MESSAGES_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/proto_buffer_reader.h"

namespace cvae {

// INVALID_ARGUMENT if the bytes are no such message. The buffer is emptied.
template <class Message>
absl::Status ParseMessage(grpc::ByteBuffer* buffer, Message* message) {
  // Not with gRPC's own traits: they go by reflection through what is left of a message that cannot be parsed, for a
  // text about required fields, which proto3 does not have.
  bool parsed = false;
  {
    grpc::ProtoBufferReader reader(buffer);
    parsed = reader.status().ok() && message->ParseFromZeroCopyStream(&reader);
  }
  buffer->Clear();
  if (parsed) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("request: got bytes that are not a ", message->GetTypeName(), " message"));
}

template <class Message>
grpc::ByteBuffer SerializeMessage(const Message& message) {
  grpc::ByteBuffer buffer;
  bool own_buffer = false;
  // Fails only for messages of 2 GiB, which the limit on answer bytes keeps out.
  grpc::SerializationTraits<Message>::Serialize(message, &buffer, &own_buffer);
  return buffer;
}

}  // namespace cvae

#endif  // CVAE_SERVER_MESSAGES_H_
