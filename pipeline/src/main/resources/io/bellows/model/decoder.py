# The decoder, as TorchScript source that libtorch compiles from memory. It holds no weights: `w` is the list
#
#   0 embedding   1 final norm   2 output head (the embedding itself when tied)   then 14 per layer:
#   input norm, q, q bias, k, k bias, v, v bias, q norm, k norm, o, post-attention norm, gate, up, down
#
# A weight that an architecture lacks is an empty tensor. T is the number of tokens of all sequences laid end to end,
# H the hidden size, D the head size, V the vocabulary. `dims` is [layers, query heads, key-value heads].

class Kernels(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool

  # ---- one layer -----------------------------------------------------------------------------------------------

  def project(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    if bias.numel() == 0:
      return torch.linear(x, weight)
    return torch.linear(x, weight, bias)

  def heads(self, x: Tensor, weight: Tensor, bias: Tensor, norm: Tensor, n: int, eps: float) -> Tensor:
    # [T, H] -> [n, T, D]
    y = torch.transpose(torch.view(self.project(x, weight, bias), [x.size(0), n, -1]), 0, 1)
    if norm.numel() == 0:
      return y
    return torch.rms_norm(y, [y.size(-1)], norm, eps)

  def rotate(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    a, b = torch.chunk(x, 2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin

  def mlp(self, x: Tensor, gate: Tensor, up: Tensor, down: Tensor) -> Tensor:
    return torch.linear(torch.silu(torch.linear(x, gate)) * torch.linear(x, up), down)

  def repeat_heads(self, x: Tensor, times: int) -> Tensor:
    # [n, T, D] -> [n * times, T, D], each head repeated for its group of query heads
    if times == 1:
      return x
    n, T, D = x.size()
    return torch.reshape(torch.expand(torch.unsqueeze(x, 1), [n, times, T, D]), [n * times, T, D])

  def sequences(self, x: Tensor, count: int) -> Tensor:
    # [n, count * L, D] -> [count, n, L, D]
    n, T, D = x.size()
    return torch.transpose(torch.reshape(x, [n, count, T // count, D]), 0, 1)

  def attend(self, q: Tensor, k: Tensor, v: Tensor, bounds: List[int]) -> Tensor:
    # Causal attention inside each sequence bounds[i]..bounds[i + 1]; [n, T, D] -> [T, n * D].
    # Neighbours of the same length go through one call.
    k = self.repeat_heads(k, q.size(0) // k.size(0))
    v = self.repeat_heads(v, q.size(0) // v.size(0))
    n, T, D = q.size()
    parts = annotate(List[Tensor], [])
    i = 0
    while i < len(bounds) - 1:
      j = i + 1
      while j < len(bounds) - 1 and bounds[j + 1] - bounds[j] == bounds[i + 1] - bounds[i]:
        j += 1
      a = bounds[i]
      b = bounds[j]
      part = torch.scaled_dot_product_attention(self.sequences(q[:, a:b], j - i), self.sequences(k[:, a:b], j - i), self.sequences(v[:, a:b], j - i), None, 0., True)
      parts.append(torch.reshape(torch.transpose(part, 1, 2), [b - a, n * D]))
      i = j
    return torch.cat(parts)

  def layer(self, w: List[Tensor], l: int, x: Tensor, cos: Tensor, sin: Tensor, bounds: List[int], dims: List[int], eps: float) -> Tensor:
    in_norm, q_w, q_b, k_w, k_b, v_w, v_b, q_norm, k_norm, o_w, post_norm, gate, up, down = w[3 + 14 * l:17 + 14 * l]
    y = torch.rms_norm(x, [x.size(-1)], in_norm, eps)
    q = self.rotate(self.heads(y, q_w, q_b, q_norm, dims[1], eps), cos, sin)
    k = self.rotate(self.heads(y, k_w, k_b, k_norm, dims[2], eps), cos, sin)
    v = torch.transpose(torch.view(self.project(y, v_w, v_b), [y.size(0), dims[2], -1]), 0, 1)
    x = x + torch.linear(self.attend(q, k, v, bounds), o_w)
    return x + self.mlp(torch.rms_norm(x, [x.size(-1)], post_norm, eps), gate, up, down)

  # ---- scoring and training: sequences laid end to end, no padding ---------------------------------------------

  def hidden(self, w: List[Tensor], ids: Tensor, positions: Tensor, bounds: List[int], rows: Tensor, cos: Tensor, sin: Tensor, dims: List[int], eps: float) -> Tensor:
    # Final hidden states of the tokens `rows`: [T] -> [len(rows), H]
    x = torch.embedding(w[0], ids)
    c = torch.index_select(cos, 0, positions)
    s = torch.index_select(sin, 0, positions)
    for l in range(dims[0]):
      x = self.layer(w, l, x, c, s, bounds, dims, eps)
    return torch.rms_norm(torch.index_select(x, 0, rows), [x.size(-1)], w[1], eps)

  def token_scores(self, h: Tensor, head: Tensor, targets: Tensor, inverse_temperature: float, chunk: int) -> Tuple[Tensor, Tensor]:
    # log p(target) and the entropy of each row's distribution, [N] and [N]; the logits live `chunk` rows at a time
    log_probs = annotate(List[Tensor], [])
    entropies = annotate(List[Tensor], [])
    for i in range(0, h.size(0), chunk):
      ls = torch.log_softmax(torch.linear(h[i:i + chunk], head) * inverse_temperature, -1)
      log_probs.append(torch.squeeze(torch.gather(ls, 1, torch.unsqueeze(targets[i:i + chunk], 1)), 1))
      entropies.append(-torch.sum(torch.exp(ls) * ls, -1))
    return (torch.cat(log_probs), torch.cat(entropies))

  def token_scores_backward(self, h: Tensor, head: Tensor, targets: Tensor, d_log_prob: Tensor, d_entropy: Tensor, d_head: Tensor, inverse_temperature: float, chunk: int) -> Tensor:
    # Recomputes the logits chunk by chunk, adds d(head) in place and returns d(h)
    out = annotate(List[Tensor], [])
    for i in range(0, h.size(0), chunk):
      rows = h[i:i + chunk]
      ls = torch.log_softmax(torch.linear(rows, head) * inverse_temperature, -1)
      p = torch.exp(ls)
      entropy = -torch.sum(p * ls, -1, True)
      a = torch.unsqueeze(d_log_prob[i:i + chunk], 1)
      b = torch.unsqueeze(d_entropy[i:i + chunk], 1)
      g = -p * (a + b * (ls + entropy))
      g.scatter_add_(1, torch.unsqueeze(targets[i:i + chunk], 1), a)
      g.mul_(inverse_temperature)
      out.append(torch.mm(g, head))
      d_head.addmm_(torch.t(g), rows)
    return torch.cat(out)

  def make_gradients(self, w: List[Tensor]) -> int:
    # The gradient of an empty sum is zeros of the weight's shape: every leaf gets its buffer once
    total = torch.sum(torch.reshape(w[0], [-1])[:0])
    for x in w[1:]:
      total = total + torch.sum(torch.reshape(x, [-1])[:0])
    total.backward()
    return len(w)

  # ---- optimizer -----------------------------------------------------------------------------------------------

  def zero(self, tensors: List[Tensor]) -> int:
    torch._foreach_zero_(tensors)
    return len(tensors)

  def norm(self, tensors: List[Tensor]) -> Tensor:
    return torch.linalg_vector_norm(torch.stack(torch._foreach_norm(tensors, 2)), 2)

  def scale(self, tensors: List[Tensor], factor: float) -> int:
    torch._foreach_mul_(tensors, factor)
    return len(tensors)

  def adamw(self, p: List[Tensor], g: List[Tensor], m: List[Tensor], v: List[Tensor], steps: List[Tensor], lr: float, beta1: float, beta2: float, weight_decay: float, eps: float) -> int:
    torch._foreach_add_(steps, 1)
    torch._fused_adamw_(p, g, m, v, annotate(List[Tensor], []), steps, lr=lr, beta1=beta1, beta2=beta2, weight_decay=weight_decay, eps=eps, amsgrad=False, maximize=False)
    return len(p)
