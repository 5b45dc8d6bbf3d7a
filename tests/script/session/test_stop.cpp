// A stop interrupts any work: loops of Lua, chains of ops, backward passes and long single ops. The processor
// time that the process uses from Session::interrupt() to the end of the run is judged; long runs judge the
// wall-clock time too.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "runtime/cpu/parallel.h"
#include "tests/support/recorder.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

// Work that runs until it is interrupted: `setup`, then `work` again and again.
struct Work {
  const char* name;
  const char* setup;
  const char* work;
};

void check_ends(const Work& work, void (Session::*end)() = &Session::interrupt) {
  const std::string script =
      std::string("local lg = require 'lunagrad' local nn, F = lg.nn, lg.nn.functional ") + work.setup +
      "\nprint('go') while true do\n" + work.work + "\nend";
  const int tries = long_run() && !kSanitized ? 3 : 1;
  std::vector<double> busy, wall;  // seconds of each try
  for (int i = 0; i < tries; ++i) {
    Recorder recorder;
    recorder.run(script);
    REQUIRE(recorder.printed("go"));
    REQUIRE(let_work((20 + 45 * i) * 1e-3));  // each try stops at another place of the work
    const double begin_wall = seconds_of(CLOCK_MONOTONIC);
    (recorder.session.*end)();
    const double begin = process_seconds();  // this thread may have lost its core before the request
    CHECK(recorder.session.wait() == Outcome::stopped);
    wall.push_back(seconds_of(CLOCK_MONOTONIC) - begin_wall);
    busy.push_back((process_seconds() - begin) / thread_count());
    CHECK(recorder.error() == "");
  }
  if (kSanitized) return;  // instrumented kernels take up to a hundred times as long
  const auto [quickest, slowest] = std::minmax_element(wall.begin(), wall.end());
  const double least = *std::min_element(busy.begin(), busy.end()),
               most = *std::max_element(busy.begin(), busy.end());
  if (std::getenv("LUNAGRAD_SHOW"))
    std::printf("%-28s %6.1f to %6.1f ms, each thread computes %6.1f to %6.1f ms\n", work.name,
                *quickest * 1e3, *slowest * 1e3, least * 1e3, most * 1e3);
  INFO(std::string(work.name));
  CHECK(least < kStopSeconds);
  CHECK(most < 10 * kStopSeconds);
  if (!long_run()) return;
  CHECK(in_time(*quickest, kStopSeconds));
  CHECK(in_time(*slowest, 10 * kStopSeconds));
}

constexpr Work kWorks[] = {
    {"a loop of Lua", "", ""},
    {"a chain of ops", "local x = lg.randn(512, 512)",
     "local y = x for _ = 1, 100000 do y = (y * 0.5):tanh() end"},
    {"a long backward",
     "local x = lg.randn(16, 16):requires_grad_() local y = x for _ = 1, 20000 do y = (y * 0.999):sin() end "
     "y = y:sum()",
     "y:backward(nil, {retain_graph = true})"},
    {"matmul f32", "local a = lg.randn(6144, 6144)", "local _ = a:matmul(a)"},
    {"matmul f64", "local a = lg.randn(3072, 3072, {dtype = 'f64'})", "local _ = a:matmul(a:t())"},
    {"matmul bf16", "local a = lg.randn(6144, 6144):to('bf16')", "local _ = a:matmul(a:t())"},
    {"backward of a matmul", "local a = lg.randn(4096, 4096):requires_grad_() local y = a:matmul(a):sum()",
     "y:backward(nil, {retain_graph = true})"},
    {"cdist", "local a = lg.randn(4096, 64)", "local _ = lg.cdist(a, a, 3)"},
    {"pdist", "local a = lg.randn(6000, 64)", "local _ = F.pdist(a, 3)"},
    {"backward of cdist", "local a = lg.randn(4096, 64):requires_grad_() local y = lg.cdist(a, a, 1.5):sum()",
     "y:backward(nil, {retain_graph = true})"},
    {"cholesky", "local a = lg.randn(64, 4096) a = a:t():matmul(a) + 100 * lg.eye(4096)",
     "local _ = lg.linalg.cholesky(a)"},
    {"many inverses", "local a = lg.randn(65536, 16, 16)", "local _ = lg.linalg.inv(a)"},
    {"many small products", "local a = lg.randn(65536, 32, 32)", "local _ = a:matmul(a)"},
    {"matmul c64", "local a = lg.complex(lg.randn(2048, 2048), lg.randn(2048, 2048))",
     "local _ = a:matmul(a)"},
    {"a wide and short product", "local a, b = lg.randn(8, 4096), lg.randn(4096, 32768)",
     "local _ = a:matmul(b)"},
    {"conv2d", "local x, w = lg.randn(16, 64, 224, 224), lg.randn(64, 64, 3, 3)",
     "local _ = F.conv2d(x, w, nil, {padding = 1})"},
    {"backward of conv2d bf16",
     "local x, w = lg.randn(8, 64, 128, 128):to('bf16'), lg.randn(64, 64, 3, 3):to('bf16') "
     "x:requires_grad_() w:requires_grad_() local y = F.conv2d(x, w, nil, {padding = 1}):sum()",
     "y:backward(nil, {retain_graph = true})"},
    {"backward of conv2d",
     "local x, w = lg.randn(8, 64, 128, 128):requires_grad_(), lg.randn(64, 64, 3, 3):requires_grad_() "
     "local y = F.conv2d(x, w, nil, {padding = 1}):sum()",
     "y:backward(nil, {retain_graph = true})"},
    {"conv1d with a long kernel", "local x, w = lg.randn(1, 1, 400000), lg.randn(1, 1, 5001)",
     "local _ = F.conv1d(x, w)"},
    {"sort", "local x = lg.rand(1 << 24)", "local _ = x:sort()"},
    {"sort of i64", "local x = lg.randint(0, 1 << 60, {1 << 23})", "local _ = x:sort()"},
    {"unique", "local x = lg.randint(0, 1 << 60, {1 << 22})", "local _ = x:unique()"},
    {"unique rows", "local x = lg.randint(0, 50, {1 << 17, 4})", "local _ = x:unique {dim = 1}"},
    {"cummax", "local x = lg.rand(1 << 25)", "local _ = x:cummax(1)"},
    {"logcumsumexp", "local x = lg.rand(1 << 23)", "local _ = x:logcumsumexp(1)"},
    {"searchsorted", "local x, s = lg.rand(1 << 23), lg.linspace(0, 1, 1 << 20)",
     "local _ = lg.searchsorted(s, x)"},
    {"scatter_reduce", "local x, i = lg.rand(1 << 24), lg.randperm(1 << 24)",
     "local _ = x:scatter_reduce(1, i, x, 'amax')"},
    {"poisson", "local x = lg.full({1 << 22}, 50.5)", "local _ = lg.poisson(x)"},
    {"lgamma", "local x = lg.rand(1 << 25)", "local _ = x:lgamma()"},
    {"sort of rows", "local x = lg.rand(256, 1 << 16)", "local _ = x:sort(2)"},
    {"topk", "local x = lg.rand(1 << 24)", "local _ = x:topk(1 << 20)"},
    {"median", "local x = lg.rand(1 << 24)", "local _ = x:median()"},
    {"kthvalue of close numbers", "local x = lg.rand(1 << 24, {dtype = 'f64'}) * 1e-9 + 1",
     "local _ = x:kthvalue(1 << 20)"},
    {"a few of many", "local x = lg.rand(1 << 25)", "local _ = x:topk(100)"},
    {"bincount", "local x = lg.randint(0, 1 << 22, {1 << 24})", "local _ = x:bincount()"},
    {"runs", "local x = lg.randint(0, 3, {1 << 25})", "local _ = x:unique_consecutive()"},
    {"LU factors", "local a = lg.randn(4096, 4096)", "local _ = lg.linalg.lu_factor(a)"},
    {"cumsum", "local x = lg.rand(1 << 25)", "local _ = x:cumsum(1)"},
    {"cumprod of columns", "local x = lg.rand(8192, 4096)", "local _ = x:cumprod(1)"},
    {"attention", "local q = lg.randn(4, 8, 2048, 64)", "local _ = F.scaled_dot_product_attention(q, q, q)"},
    {"backward of attention",
     "local q = lg.randn(2, 8, 1024, 64):requires_grad_() local y = F.scaled_dot_product_attention(q, q, "
     "q):sum()",
     "y:backward(nil, {retain_graph = true})"},
    {"a long fft", "local x = lg.randn(1 << 22, {dtype = 'c64'})", "local _ = lg.fft.fft(x)"},
    {"fft of a prime length", "local x = lg.randn(2000003, {dtype = 'c64'})", "local _ = lg.fft.fft(x)"},
    {"rfft of many odd rows", "local x = lg.randn(65536, 111)", "local _ = lg.fft.rfft(x)"},
    {"fft of columns", "local x = lg.randn(1000, 8192, {dtype = 'c64'})", "local _ = lg.fft.fft(x, nil, 1)"},
    {"stft and istft", "local x = lg.randn(1 << 21)", "local _ = lg.istft(lg.stft(x, 512), 512)"},
    {"softmax", "local x = lg.randn(4096, 8192)", "local _ = x:softmax(-1)"},
    {"an elementwise op", "local x = lg.randn(1 << 25)", "local _ = x:erf()"},
    {"a sum", "local x = lg.rand(1 << 26)", "local _ = x:sum()"},
    {"a norm over columns", "local x = lg.rand(8192, 4096)", "local _ = x:var(1)"},
    {"random numbers", "", "local _ = lg.randn(1 << 26)"},
    {"randperm", "", "local _ = lg.randperm(1 << 24)"},
    {"multinomial", "local p = lg.rand(1 << 20)", "local _ = lg.multinomial(p, 1 << 18)"},
    {"nonzero", "local x = lg.rand(1 << 25):gt(0.5)", "local _ = x:nonzero()"},
    {"masked_select", "local x = lg.rand(1 << 25) local m = x:gt(0.5)", "local _ = x:masked_select(m)"},
    {"index_select", "local x, i = lg.rand(1 << 24), lg.randperm(1 << 24)", "local _ = x:index_select(1, i)"},
    {"gather", "local x, i = lg.rand(1 << 24), lg.randperm(1 << 24)", "local _ = x:gather(1, i)"},
    {"scatter_add", "local x, i = lg.rand(1 << 24), lg.randperm(1 << 24)",
     "local _ = x:scatter_add(1, i, x)"},
    {"index_add", "local x, i = lg.rand(1 << 22, 8), lg.randperm(1 << 22)", "local _ = x:index_add(1, i, x)"},
    {"backward of embedding",
     "local w = lg.rand(1 << 16, 256):requires_grad_() local y = F.embedding(lg.randint(0, 1 << 16, {1 << "
     "16}), w):sum()",
     "y:backward(nil, {retain_graph = true})"},
    {"one_hot", "local i = lg.randint(0, 256, {1 << 17})", "local _ = F.one_hot(i, 256)"},
    {"a transposed copy", "local x = lg.rand(8192, 8192)", "local _ = x:t():contiguous()"},
    {"cat", "local x = lg.rand(1 << 25)", "local _ = lg.cat({x, x})"},
    {"pad", "local x = lg.rand(4096, 8192)", "local _ = lg.pad(x, {5, 5, 5, 5}, {mode = 'reflect'})"},
    {"roll", "local x = lg.rand(1 << 25)", "local _ = x:roll(12345)"},
    {"a cast", "local x = lg.rand(1 << 26)", "local _ = x:to('bf16')"},
    {"einsum", "local a = lg.rand(256, 256, 64)", "local _ = lg.einsum('ijk,jlk->ilk', a, a)"},
    {"layer_norm", "local x = lg.rand(16384, 2048)", "local _ = F.layer_norm(x, {2048})"},
    {"batch_norm", "local x, m, v = lg.rand(32, 64, 128, 128), lg.zeros(64), lg.ones(64)",
     "local _ = F.batch_norm(x, m, v, nil, nil, true)"},
    {"max_pool2d", "local x = lg.rand(16, 64, 256, 256)", "local _ = F.max_pool2d(x, 3, 2)"},
    {"interpolate", "local x = lg.rand(4, 32, 128, 128)",
     "local _ = F.interpolate(x, {scale_factor = 4, mode = 'bilinear'})"},
    {"im2col", "local x = lg.rand(8, 32, 128, 128)", "local _ = F.im2col(x, 3)"},
    {"an lstm", "local net, x = nn.LSTM(256, 512), lg.randn(256, 64, 256)", "local _ = net(x)"},
    {"backward of an lstm", "local net, x = nn.LSTM(256, 512), lg.randn(128, 32, 256) local y = net(x):sum()",
     "y:backward(nil, {retain_graph = true})"},
    {"ctc_loss",
     "local p = lg.randn(512, 64, 128):log_softmax(-1) local t = lg.randint(1, 128, {64, 100}) "
     "local a, b = lg.full({64}, 512):long(), lg.full({64}, 100):long()",
     "local _ = F.ctc_loss(p, t, a, b)"},
    {"cross_entropy", "local x, t = lg.randn(4096, 8192), lg.randint(0, 8192, {4096})",
     "local _ = F.cross_entropy(x, t)"},
    {"an optimizer's step",
     "local w = lg.randn(1 << 25):requires_grad_() w.grad = lg.randn(1 << 25) local adam = "
     "lg.optim.Adam({w})",
     "adam:step()"},
    {"tolist", "local x = lg.rand(1 << 23)", "local _ = x:tolist()"},
    {"a tensor of a table", "local t = lg.rand(1 << 22):tolist()", "local _ = lg.tensor(t)"},
    {"text of a tensor", "local x = lg.rand(1 << 25)", "local _ = tostring(x)"},
};

}  // namespace

TEST_CASE("an interrupt ends whatever runs within 100 ms") {
  const bool all = long_run() && !kSanitized;  // else Lua, a chain of ops, a long backward and two products
  for (const Work& work : std::span(kWorks).first(all ? std::size(kWorks) : 5)) check_ends(work);
}

TEST_CASE("outside of lg.run.steps a stop is as fast") {
  for (const Work& work : std::span(kWorks).first(kSanitized ? 2 : 4)) check_ends(work, &Session::stop);
}

TEST_CASE("after an interrupt the session works, and partly written tensors are marked") {
  Recorder recorder;
  recorder.run(R"(
    local lg = require "lunagrad"
    big, small, before = lg.zeros(1 << 26), lg.ones(4), lg.ones(3)
    big:fill_(1)
    print("go")
    while true do big:add_(1) end)");
  REQUIRE(recorder.printed("go"));
  REQUIRE(let_work(0.1));
  recorder.session.interrupt();
  CHECK(recorder.session.wait() == Outcome::stopped);
  CHECK(recorder.eval("assert(small:sum():item() == 4 and (before * 2):sum():item() == 6)"));
  // The loop only calls add_, so the interrupt nearly always hits it.
  if (!recorder.eval("local _ = big:sum()")) {
    CHECK(recorder.error() ==
          "input:1: sum: a tensor was written only in part, since add was stopped at test:6; "
          "copy_ or fill_ makes it whole");
    CHECK_FALSE(recorder.eval("big:mul_(2)"));
    CHECK_FALSE(recorder.eval("return big[1]"));
    CHECK_FALSE(recorder.eval("return big"));
    CHECK_FALSE(recorder.eval("big:narrow(1, 1, 8):copy_(3)"));
  }
  CHECK(recorder.eval("big:fill_(2) assert(big:sum():item() == 2 * big:numel())"));
}

TEST_CASE("an interrupted optimizer marks its partly written parameters") {
  Recorder recorder;
  recorder.run(R"(
    local lg = require "lunagrad"
    w = lg.zeros(1 << 25):requires_grad_()
    w.grad = lg.ones(1 << 25)
    local adam = lg.optim.Adam({w})
    print("go")
    while true do adam:step() end)");
  REQUIRE(recorder.printed("go"));
  REQUIRE(let_work(0.15));
  recorder.session.interrupt();
  CHECK(recorder.session.wait() == Outcome::stopped);
  if (!recorder.eval("local _ = w:sum()"))
    CHECK(recorder.error().find("sum: a tensor was written only in part, since _adam_step was stopped") !=
          std::string::npos);
  CHECK(recorder.eval(
      "local lg = require 'lunagrad' local _ <close> = lg.no_grad() w:fill_(0) print(w:sum():item())"));
  CHECK(recorder.output() == "go\n0.0\n");
}
