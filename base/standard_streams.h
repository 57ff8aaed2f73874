// Standard input, output and error of a program that was started without some of them.

#ifndef CVAE_BASE_STANDARD_STREAMS_H_
#define CVAE_BASE_STANDARD_STREAMS_H_

namespace cvae {

// Puts /dev/null where descriptor 0, 1 or 2 is closed, so that no file or socket opened later gets its number, and with
// it what is printed or logged. What is read there ends at once, what is written there fails, as it would have. Only
// for .preinit_array, through CVAE_OPEN_STANDARD_STREAMS: main() would be too late, as gRPC opens descriptors when it
// is loaded.
void OpenStandardStreams();

}  // namespace cvae

// In the file of main(), outside namespaces.
#define CVAE_OPEN_STANDARD_STREAMS                                                                \
  __attribute__((section(".preinit_array"), used)) static void (*const open_standard_streams)() = \
      &cvae::OpenStandardStreams

#endif  // CVAE_BASE_STANDARD_STREAMS_H_
