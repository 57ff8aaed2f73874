// A CUDA device gives the bits of the host: the functions, the noise (whose words are cuRAND's too) and the sums.
// Skipped where there is no device. The program carries all it needs: copy it to a machine that has one.

#include <cuda_runtime_api.h>

#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "kernels/numerics/numerics.h"
#include "tests/kernels/numerics/numerics_kernels.h"
#include "tests/kernels/numerics/scalar_functions.h"

namespace cvae {
namespace {

// An array in device memory.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t size) : size_(size) {
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T)), cudaSuccess);
  }
  explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) {
    EXPECT_EQ(cudaMemcpy(data_, host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  T* data() { return data_; }

  // Waits for the kernels and copies their results.
  std::vector<T> ToHost() const {
    std::vector<T> host(size_);
    const cudaError_t error = cudaMemcpy(host.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost);
    EXPECT_EQ(error, cudaSuccess) << cudaGetErrorString(error);
    return host;
  }

 private:
  T* data_ = nullptr;
  size_t size_;
};

class CudaNumericsTest : public testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess) GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(error);
    if (devices == 0) GTEST_SKIP() << "no CUDA device";
  }
};

uint32_t ResultBits(float x) { return scalar::Bits(scalar::CanonicalNaN(x)); }

TEST_F(CudaNumericsTest, EveryFunctionHasTheBitsOfTheHost) {
  const Arguments arguments = HardArguments(500'000);
  DeviceArray<float> a(arguments.a), b(arguments.b), c(arguments.c), out(arguments.size());
  const auto& functions = ScalarFunctions();
  for (size_t f = 0; f < functions.size(); ++f) {
    SCOPED_TRACE(functions[f].name);
    const int n = static_cast<int>(arguments.size());
    ASSERT_EQ(LaunchFunction(f, a.data(), b.data(), c.data(), n, out.data()), cudaSuccess);
    const std::vector<float> got = out.ToHost();
    int wrong = 0;
    for (int i = 0; i < n && wrong < 3; ++i) {
      const float expected = functions[f].evaluate(arguments.a[i], arguments.b[i], arguments.c[i]);
      if (ResultBits(got[i]) == ResultBits(expected)) continue;
      ++wrong;
      ADD_FAILURE() << got[i] << " and not " << expected << " at " << arguments.a[i] << ", " << arguments.b[i] << ", "
                    << arguments.c[i];
    }
  }
}

// Small numbers, large ones and the ends of each field; samples below 2^30, as cuRAND's offset has room for.
std::vector<NoisePlace> Places(int n) {
  std::mt19937_64 random(7);
  std::vector<NoisePlace> places = {
      {0, 0, 0, 0},
      {~uint64_t{0}, ~uint64_t{0}, (1u << 30) - 1, ~0u},
      {1, uint64_t{1} << 32, 1, 0},
      {uint64_t{1} << 32, 1, 0, 1},
      {5, 0xffffffffu, 0, 0xffffffffu},
  };
  while (static_cast<int>(places.size()) < n) {
    const int shift = static_cast<int>(random() % 64);
    places.push_back({random() >> shift, random() >> (63 - shift), static_cast<uint32_t>(random() >> 34 >> shift % 30),
                      static_cast<uint32_t>(random() >> 32 >> shift % 32)});
  }
  return places;
}

TEST_F(CudaNumericsTest, NoiseWordsAreTheHostsAndCurands) {
  const int n = 100'000;
  const std::vector<NoisePlace> places = Places(n);
  DeviceArray<NoisePlace> on_device(places);
  DeviceArray<uint32_t> ours(4 * n), curand(4 * n);
  ASSERT_EQ(LaunchNoiseWords(on_device.data(), n, ours.data(), curand.data()), cudaSuccess);
  const std::vector<uint32_t> our_words = ours.ToHost(), curand_words = curand.ToHost();
  for (int i = 0; i < n; ++i) {
    const NoisePlace& p = places[i];
    const auto expected = scalar::NoiseWords<uint32_t>(p.seed, p.row, p.sample, p.block);
    for (int k = 0; k < 4; ++k) {
      ASSERT_EQ(our_words[4 * i + k], expected.v[k]) << p.seed << " " << p.row << " " << p.sample << " " << p.block;
      ASSERT_EQ(curand_words[4 * i + k], expected.v[k]) << p.seed << " " << p.row << " " << p.sample << " " << p.block;
    }
  }
}

TEST_F(CudaNumericsTest, NormalsHaveTheBitsOfTheHost) {
  const int n = 20'000, count = 37;
  const std::vector<NoisePlace> places = Places(n);
  DeviceArray<NoisePlace> on_device(places);
  DeviceArray<float> eps(size_t{n} * count);
  ASSERT_EQ(LaunchNormals(on_device.data(), n, count, eps.data()), cudaSuccess);
  const std::vector<float> got = eps.ToHost();
  for (int i = 0; i < n; ++i) {
    float expected[count];
    scalar::FillNormals<uint32_t>(places[i].seed, places[i].row, places[i].sample, count, expected);
    for (int j = 0; j < count; ++j)
      ASSERT_EQ(scalar::Bits(got[i * count + j]), scalar::Bits(expected[j])) << i << " " << j;
  }
}

TEST_F(CudaNumericsTest, SumsByThreadAndByWarpHaveTheBitsOfTheHost) {
  for (int count : {1, 31, 32, 33, 64, 257}) {
    const int n = 1000;
    std::vector<float> d(size_t(n) * count);
    scalar::FillNormals<uint32_t>(1, count, 0, n * count, d.data());
    DeviceArray<float> on_device(d), by_thread(n), by_warp(n);
    ASSERT_EQ(LaunchSums(on_device.data(), n, count, by_thread.data(), by_warp.data()), cudaSuccess);
    const std::vector<float> thread_sums = by_thread.ToHost(), warp_sums = by_warp.ToHost();
    for (int i = 0; i < n; ++i) {
      scalar::RowSum<float> sum;
      for (int j = 0; j < count; ++j) sum.AddSquare(j, d[i * count + j]);
      ASSERT_EQ(scalar::Bits(thread_sums[i]), scalar::Bits(sum.Total())) << i << " of width " << count;
      ASSERT_EQ(scalar::Bits(warp_sums[i]), scalar::Bits(sum.Total())) << i << " of width " << count;
    }
  }
}

}  // namespace
}  // namespace cvae
