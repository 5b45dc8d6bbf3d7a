#pragma once
// The gates of recurrent cells for one row of n hidden units, with SIMD selected at run time. `input` and
// `hidden` are the products of the weights with the input of a time step and with the previous state: the
// gates one after the other in PyTorch's order, n elements each. Pure loops, any thread; T is float or
// double.
#include <cstdint>

namespace lunagrad {

enum class Cell : uint8_t { tanh, relu, lstm, gru };

// relu(input + hidden) if `relu`, else tanh(input + hidden).
template <class T>
void rnn_row(bool relu, int64_t n, const T* input, const T* hidden, T* h);
// The gradient of the sum from the gradient of h, which is dh + dout. dout may be null, here and below.
template <class T>
void rnn_grad_row(bool relu, int64_t n, const T* h, const T* dh, const T* dout, T* dsum);

// gates: in `input`, out i, f, g, o.
template <class T>
void lstm_row(int64_t n, T* gates, const T* hidden, const T* c_before, T* c, T* h);
// dc: in: the gradient of c from later steps; out: the gradient of c_before.
template <class T>
void lstm_grad_row(int64_t n, const T* gates, const T* c_before, const T* c, const T* dh, const T* dout,
                   T* dc, T* dgates);

// gates: out r, z, n and the part of n that comes from `hidden`.
template <class T>
void gru_row(int64_t n, const T* input, const T* hidden, const T* h_before, T* gates, T* h);
// dh: in: the gradient of h from later steps; out: the part that goes directly to h_before. dinput and
// dhidden: the gradients of both products.
template <class T>
void gru_grad_row(int64_t n, const T* gates, const T* h_before, T* dh, const T* dout, T* dinput, T* dhidden);

}  // namespace lunagrad
