# The decoder, as TorchScript source that libtorch compiles from memory. It holds no weights: `w` is the list
#
#   0 embedding   1 final norm   2 output head (the embedding itself when tied)   then 14 per layer:
#   input norm, q, q bias, k, k bias, v, v bias, q norm, k norm, o, post-attention norm, gate, up, down
#
# A critic's head is one row, whose bias is the last of the list.
#
# A weight that an architecture lacks is an empty tensor. T is the number of tokens of all sequences laid end to end,
# H the hidden size, D the head size, V the vocabulary. `dims` is [layers, query heads, key-value heads], then for each
# layer how many positions a token attends to, its own among them (0: all before it). Types are libtorch's numbers:
# 4 int64, 6 fp32, 7 fp64. A decoder computes in the type of its weights; cosines, sines and scores are fp32.

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
    # `cos` and `sin` of the type of `x`
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

  def visible(self, T: int, S: int, window: int, like: Tensor) -> Tensor:
    # Which of S positions each of the last T may attend to, booleans [T, S]
    keys = torch.unsqueeze(torch.arange(S, device=like.device), 0)
    queries = torch.unsqueeze(torch.arange(S - T, S, device=like.device), 1)
    mask = torch.le(keys, queries)
    if window > 0:
      mask = mask & torch.gt(keys, queries - window)
    return mask

  def attention(self, q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    # Causal attention of the last T of S positions, [.., n, T, D] and twice [.., n, S, D] -> [.., n, T, D]. SDPA's own
    # causal mask is aligned to the first position, which is right only where both start together.
    T = q.size(-2)
    S = k.size(-2)
    if T == S and (window == 0 or S <= window):
      return torch.scaled_dot_product_attention(q, k, v, None, 0., True)
    return torch.scaled_dot_product_attention(q, k, v, self.visible(T, S, window, q))

  def pieces(self, x: Tensor, count: int) -> Tensor:
    # [n, count * L, D] -> [count, n, L, D]
    n, T, D = x.size()
    return torch.transpose(torch.reshape(x, [n, count, T // count, D]), 0, 1)

  def behind(self, prompts: List[Tensor], indices: List[int], x: Tensor) -> Tensor:
    # A run of pieces behind their prompts' P tokens each: [count, n, L, D] -> [count, n, P + L, D]
    return torch.cat([torch.stack([prompts[i] for i in indices]), x], 2)

  def attend(self, q: Tensor, k: Tensor, v: Tensor, runs: List[int], prompts: List[int], window: int) -> Tensor:
    # Causal attention inside each sequence; [n, T, D] -> [T, n * D]. The token axis holds `runs` of pieces of one length,
    # given as their count and their length. A piece is a sequence of its own, or follows the piece `prompts` says.
    k = self.repeat_heads(k, q.size(0) // k.size(0))
    v = self.repeat_heads(v, q.size(0) // v.size(0))
    sizes = [runs[i] * runs[i + 1] for i in range(0, len(runs), 2)]
    # Split at once: the gradient of a slice would be as large as what it was cut from
    qs = torch.split_with_sizes(q, sizes, 1)
    ks = torch.split_with_sizes(k, sizes, 1)
    vs = torch.split_with_sizes(v, sizes, 1)
    queries = annotate(List[Tensor], [])
    keys = annotate(List[Tensor], [])
    values = annotate(List[Tensor], [])
    parts = annotate(List[Tensor], [])
    piece = 0
    for i in range(len(sizes)):
      count = runs[2 * i]
      length = runs[2 * i + 1]
      Q = self.pieces(qs[i], count)
      K = self.pieces(ks[i], count)
      V = self.pieces(vs[i], count)
      if prompts[piece] < 0:
        queries.extend(torch.unbind(Q))
        keys.extend(torch.unbind(K))
        values.extend(torch.unbind(V))
      else:
        before = prompts[piece:piece + count]
        K = self.behind(keys, before, K)
        V = self.behind(values, before, V)
        if K.size(2) < 2 * length:
          # The prompt is the shorter part: to ask for it again costs less than a mask, whose hidden half is computed
          Q = self.behind(queries, before, Q)
      part = torch.transpose(self.attention(Q, K, V, window)[:, :, -length:], 1, 2)
      parts.append(torch.reshape(part, [count * length, -1]))
      piece += count
    return torch.cat(parts)

  def queries_keys_values(self, w: List[Tensor], l: int, x: Tensor, cos: Tensor, sin: Tensor, dims: List[int], eps: float) -> Tuple[Tensor, Tensor, Tensor]:
    # [T, H] -> [query heads, T, D] and twice [key-value heads, T, D]
    in_norm, q_w, q_b, k_w, k_b, v_w, v_b, q_norm, k_norm = w[3 + 14 * l:12 + 14 * l]
    y = torch.rms_norm(x, [x.size(-1)], in_norm, eps)
    q = self.rotate(self.heads(y, q_w, q_b, q_norm, dims[1], eps), cos, sin)
    k = self.rotate(self.heads(y, k_w, k_b, k_norm, dims[2], eps), cos, sin)
    v = torch.transpose(torch.view(self.project(y, v_w, v_b), [y.size(0), dims[2], -1]), 0, 1)
    return (q, k, v)

  def feed_forward(self, w: List[Tensor], l: int, x: Tensor, attended: Tensor, eps: float) -> Tensor:
    # The layer's second half: `attended` [T, n * D] joins the residual stream, then the gated feed-forward part
    o_w, post_norm, gate, up, down = w[12 + 14 * l:17 + 14 * l]
    x = x + torch.linear(attended, o_w)
    return x + self.mlp(torch.rms_norm(x, [x.size(-1)], post_norm, eps), gate, up, down)

  def layer(self, w: List[Tensor], l: int, x: Tensor, cos: Tensor, sin: Tensor, runs: List[int], prompts: List[int], dims: List[int], eps: float) -> Tensor:
    q, k, v = self.queries_keys_values(w, l, x, cos, sin, dims, eps)
    return self.feed_forward(w, l, x, self.attend(q, k, v, runs, prompts, dims[3 + l]), eps)

  # ---- scoring and training: sequences laid end to end, no padding ---------------------------------------------

  def cast(self, w: List[Tensor], dtype: int) -> List[Tensor]:
    return [torch.to(x, dtype) for x in w]

  def copy(self, targets: List[Tensor], sources: List[Tensor]) -> int:
    torch._foreach_copy_(targets, sources)
    return len(targets)

  def turns(self, table: Tensor, positions: Tensor, like: Tensor) -> Tensor:
    return torch.to(torch.index_select(table, 0, positions), like.dtype)

  def hidden(self, w: List[Tensor], x: Tensor, positions: Tensor, runs: List[int], prompts: List[int], rows: Tensor, cos: Tensor, sin: Tensor, dims: List[int], eps: float) -> Tensor:
    # Final hidden states of the tokens `rows`, from what `embed` returns: [T, H] -> [len(rows), H] fp32
    c = self.turns(cos, positions, x)
    s = self.turns(sin, positions, x)
    for l in range(dims[0]):
      x = self.cast_layer(w, l, x, c, s, runs, prompts, dims, eps)
    return self.final_norm(w, x, rows, eps)

  def embed(self, w: List[Tensor], dtype: int, ids: Tensor) -> Tensor:
    return torch.to(torch.embedding(w[0], ids), dtype)

  def embed_backward(self, gradient: Tensor, ids: Tensor, d: Tensor) -> int:
    # Summed by distinct id, then added in place: autograd would make a gradient as large as the embedding first
    distinct, inverse, counts = torch._unique2(ids, True, True, False)
    sums = torch.zeros([distinct.numel(), d.size(1)], dtype=gradient.dtype, device=gradient.device)
    sums.index_add_(0, inverse, torch.to(d, gradient.dtype))
    gradient.index_add_(0, distinct, sums)
    return ids.numel()

  def cast_layer(self, w: List[Tensor], l: int, x: Tensor, cos: Tensor, sin: Tensor, runs: List[int], prompts: List[int], dims: List[int], eps: float) -> Tensor:
    # One layer with its weights in the type of `x`
    own = self.cast(w[3 + 14 * l:17 + 14 * l], x.dtype)
    return self.layer(w[:3] + own, 0, x, cos, sin, runs, prompts, dims[:3] + dims[3 + l:], eps)

  def final_norm(self, w: List[Tensor], x: Tensor, rows: Tensor, eps: float) -> Tensor:
    x = torch.index_select(x, 0, rows)
    return torch.to(torch.rms_norm(x, [x.size(-1)], torch.to(w[1], x.dtype), eps), 6)

  def lend(self, h: Tensor, head: Tensor, chunk: int, count: int) -> List[Tensor]:
    # Matrices of the size of the logits of a chunk. All chunks share them: taken and given back for each, they would leave
    # holes in which the allocator places something small, so that no later chunk fits.
    shape = [min(chunk, h.size(0)), head.size(0)]
    return [torch.empty(shape, dtype=6, device=h.device) for i in range(count)]

  def distributions(self, h: Tensor, head: Tensor, inverse_temperature: float, lent: List[Tensor]) -> Tuple[Tensor, Tensor]:
    # log p and p of each row, [N, H] and [V, H] -> [N, V] fp32, in the first two of the lent matrices
    ls = lent[0][:h.size(0)]
    p = lent[1][:h.size(0)]
    if head.dtype == 6:
      torch.mm(h, torch.t(head), out=p)
    else:
      p.copy_(torch.linear(h, head))
    torch._log_softmax(p.mul_(inverse_temperature), -1, False, out=ls)
    torch.exp(ls, out=p)
    return ls, p

  def token_scores(self, h: Tensor, head: Tensor, targets: Tensor, inverse_temperature: float, chunk: int, squares: bool) -> List[Tensor]:
    # log p(target) and the entropy of each row's distribution, and with `squares` the sum of its squared probabilities,
    # [N] each; the logits live `chunk` rows at a time
    h = torch.to(h, head.dtype)
    lent = self.lend(h, head, chunk, 2)
    log_probs = annotate(List[Tensor], [])
    entropies = annotate(List[Tensor], [])
    sums = annotate(List[Tensor], [])
    for i in range(0, h.size(0), chunk):
      ls, p = self.distributions(h[i:i + chunk], head, inverse_temperature, lent)
      log_probs.append(torch.squeeze(torch.gather(ls, 1, torch.unsqueeze(targets[i:i + chunk], 1)), 1))
      entropies.append(-torch.sum(ls.mul_(p), -1))
      if squares:
        sums.append(torch.sum(p.mul_(p), -1))
    out = [torch.cat(log_probs), torch.cat(entropies)]
    if squares:
      out.append(torch.cat(sums))
    return out

  def token_scores_backward(self, h: Tensor, head: Tensor, targets: Tensor, d_log_prob: Tensor, d_entropy: Tensor, d_head: Tensor, inverse_temperature: float, chunk: int) -> Tensor:
    # Recomputes the logits chunk by chunk, adds d(head) in place and returns d(h). Three matrices of the size of a chunk's
    # logits, two where no entropy has a gradient.
    h = torch.to(h, head.dtype)
    entropy_counts = bool(torch.any(torch.ne(d_entropy, 0)))
    lent = self.lend(h, head, chunk, 3 if entropy_counts else 2)
    out = torch.empty([h.size(0), h.size(1)], dtype=6, device=h.device)
    for i in range(0, h.size(0), chunk):
      rows = h[i:i + chunk]
      ls, p = self.distributions(rows, head, inverse_temperature, lent)
      a = torch.unsqueeze(d_log_prob[i:i + chunk], 1)
      if entropy_counts:
        # -p * (a + b * (log p + entropy))
        products = torch.mul(p, ls, out=lent[2][:rows.size(0)])
        entropy = -torch.sum(products, -1, True)
        p.mul_(ls.add_(entropy).mul_(torch.unsqueeze(d_entropy[i:i + chunk], 1)).add_(a)).neg_()
      else:
        p.mul_(-a)
      p.scatter_add_(1, torch.unsqueeze(targets[i:i + chunk], 1), a)
      p.mul_(inverse_temperature)
      if head.dtype == 6:
        torch.mm(p, head, out=out[i:i + chunk])
        d_head.addmm_(torch.t(p), rows)
      else:
        g = torch.to(p, head.dtype)
        out[i:i + chunk] = torch.to(torch.mm(g, head), 6)
        d_head.add_(torch.mm(torch.t(g), rows))
    return out

  def values(self, h: Tensor, head: Tensor, bias: Tensor) -> Tensor:
    # What a critic says at each row: [N, H] -> [N]
    return torch.squeeze(torch.linear(h, head, bias), 1)

  def values_backward(self, h: Tensor, head: Tensor, d_value: Tensor, d_head: Tensor, d_bias: Tensor) -> Tensor:
    # Adds d(head) and d(bias) in place and returns d(h)
    d = torch.unsqueeze(d_value, 1)
    d_head.addmm_(torch.t(d), h)
    d_bias.add_(torch.sum(d_value))
    return torch.mm(d, head)

  def make_gradients(self, w: List[Tensor]) -> int:
    # The gradient of an empty sum is zeros of the weight's shape: every leaf gets its buffer once
    total = torch.sum(torch.reshape(w[0], [-1])[:0])
    for x in w[1:]:
      total = total + torch.sum(torch.reshape(x, [-1])[:0])
    total.backward()
    return len(w)

  # ---- generation: each sequence has a slot of every layer's `keys` and `values`, [slots, n, length + 1, D] --------------
  # The last position is never attended to: rows without a sequence write there.

  def caches(self, w: List[Tensor], layers: int, shape: List[int]) -> List[Tensor]:
    return [torch.zeros(shape, dtype=w[0].dtype, device=w[0].device) for l in range(layers)]

  def prefill(self, w: List[Tensor], keys: List[Tensor], values: List[Tensor], ids: Tensor, pieces: List[int], ends: Tensor, cos: Tensor, sin: Tensor, dims: List[int], eps: float) -> List[Tensor]:
    # Reads pieces of prompts laid end to end; `pieces` holds slot, first position and tokens of each. Returns the
    # logits [V] after each of the tokens `ends`.
    ranges = annotate(List[Tensor], [])
    for i in range(0, len(pieces), 3):
      ranges.append(torch.arange(pieces[i + 1], pieces[i + 1] + pieces[i + 2], device=ids.device))
    positions = torch.cat(ranges)
    x = torch.embedding(w[0], ids)
    c = self.turns(cos, positions, x)
    s = self.turns(sin, positions, x)
    for l in range(dims[0]):
      q, k, v = self.queries_keys_values(w, l, x, c, s, dims, eps)
      window = dims[3 + l]
      parts = annotate(List[Tensor], [])
      a = 0
      for i in range(0, len(pieces), 3):
        slot = pieces[i]
        start = pieces[i + 1]
        b = a + pieces[i + 2]
        end = start + pieces[i + 2]
        keys[l][slot, :, start:end] = k[:, a:b]
        values[l][slot, :, start:end] = v[:, a:b]
        first = 0 if window == 0 else max(0, start + 1 - window)
        seen_keys = self.repeat_heads(keys[l][slot, :, first:end], dims[1] // dims[2])
        seen_values = self.repeat_heads(values[l][slot, :, first:end], dims[1] // dims[2])
        part = self.attention(torch.unsqueeze(q[:, a:b], 0), torch.unsqueeze(seen_keys, 0), torch.unsqueeze(seen_values, 0), window)
        parts.append(torch.squeeze(part, 0))
        a = b
      y = torch.transpose(torch.cat(parts, 1), 0, 1)
      x = self.feed_forward(w, l, x, torch.reshape(y, [y.size(0), -1]), eps)
    if ends.numel() == 0:
      return annotate(List[Tensor], [])
    x = torch.rms_norm(torch.index_select(x, 0, ends), [x.size(-1)], w[1], eps)
    return torch.unbind(torch.linear(x, w[2]))

  def decode(self, w: List[Tensor], keys: List[Tensor], values: List[Tensor], rows: Tensor, span: int, sampled: bool, candidates: int, cos: Tensor, sin: Tensor, dims: List[int], eps: float) -> Tensor:
    # Reads one token in each of the first B slots and draws the next; `span` exceeds every position. `rows` [B, 7]
    # holds token, position (-1: no sequence), temperature, top-k, top-p, min-p, uniform number. -> [B, 2] as `draw`
    B = rows.size(0)
    at = torch.to(rows[:, 1], 4)
    write = torch.remainder(at, keys[0].size(2))
    positions = torch.clamp(at, min=0)
    slots = torch.arange(B, device=rows.device)
    every = torch.view(torch.arange(span, device=rows.device), [1, 1, 1, span])
    own = torch.view(positions, [B, 1, 1, 1])
    mask = torch.le(every, own)
    masks = annotate(List[Tensor], [])
    for window in dims[3:]:
      masks.append(mask if window == 0 else mask & torch.gt(every, own - window))
    x = torch.embedding(w[0], torch.to(rows[:, 0], 4))
    c = self.turns(cos, positions, x)
    s = self.turns(sin, positions, x)
    for l in range(dims[0]):
      q, k, v = self.queries_keys_values(w, l, x, c, s, dims, eps)
      K = keys[l]
      V = values[l]
      K[slots, :, write] = torch.transpose(k, 0, 1)
      V[slots, :, write] = torch.transpose(v, 0, 1)
      # The query heads of a key-value head become its query positions, so that keys need not be repeated
      q = torch.reshape(torch.transpose(q, 0, 1), [B, dims[2], dims[1] // dims[2], -1])
      y = torch.scaled_dot_product_attention(q, K[:B, :, :span], V[:B, :, :span], masks[l])
      x = self.feed_forward(w, l, x, torch.reshape(y, [B, -1]), eps)
    logits = torch.linear(torch.rms_norm(x, [x.size(-1)], w[1], eps), w[2])
    return self.draw(logits, rows, sampled, candidates)

  def draw_first(self, logits: List[Tensor], rows: Tensor, sampled: bool, candidates: int) -> Tensor:
    return self.draw(torch.stack(logits), rows, sampled, candidates)

  def draw(self, logits: Tensor, rows: Tensor, sampled: bool, candidates: int) -> Tensor:
    # Draws from each row of [B, V]. -> [B, 2]: id, log-probability under the full distribution. No filter of any row
    # needs more than the `candidates` likeliest tokens; 0: no row has one.
    logits = torch.to(logits, 6)
    temperature = rows[:, 2:3]
    greedy = torch.eq(temperature, 0)
    inverse = torch.to(torch.reciprocal(temperature + torch.to(greedy, 7)), 6)
    ls = torch.log_softmax(logits * inverse, -1)
    ids = torch.argmax(ls, -1, True)
    if sampled:
      p = torch.exp(ls)
      if candidates > 0:
        p = p * self.kept(ls, rows, min(candidates, p.size(-1)))
      # In the vocabulary's order: an order by probability would change with float noise
      c = torch.cumsum(p, -1, dtype=7)
      total = torch.contiguous(c[:, -1:])
      drawn = torch.searchsorted(c, rows[:, 6:7] * total, right=True)
      last = torch.searchsorted(c, total)  # the last token with a probability above 0
      ids = torch.where(greedy, ids, torch.clamp(torch.minimum(drawn, last), max=p.size(-1) - 1))
    return torch.cat([torch.to(ids, 7), torch.to(torch.gather(ls, 1, ids), 7)], 1)

  def kept(self, ls: Tensor, rows: Tensor, candidates: int) -> Tensor:
    # The tokens that min-p, then top-k, then top-p leave, as booleans [B, V]
    s, order = torch.topk(ls, candidates) if candidates < ls.size(-1) else torch.sort(ls, dim=-1, descending=True)
    top_k = rows[:, 3:4]
    top_p = rows[:, 4:5]
    rank = torch.unsqueeze(torch.arange(s.size(-1), device=s.device), 0)
    keep = (torch.lt(rank, top_k) | torch.lt(top_k, 0)) & torch.ge(s, s[:, :1] + torch.log(rows[:, 5:6]))
    p = torch.exp(s) * keep
    c = torch.cumsum(p, -1, dtype=7)
    keep = keep & (torch.lt(c - p, top_p * c[:, -1:]) | torch.ge(top_p, 1))
    everything = torch.lt(top_k, 0) & torch.ge(top_p, 1) & torch.eq(rows[:, 5:6], 0)
    return torch.scatter(torch.expand_as(everything, ls).clone(), 1, order, keep | everything)

  def copy_slot(self, keys: List[Tensor], values: List[Tensor], source: int, targets: List[int], length: int) -> int:
    for cache in [keys, values]:
      for x in cache:
        for target in targets:
          x[target, :, :length] = x[source, :, :length]
    return len(targets)

  def clear_slot(self, keys: List[Tensor], values: List[Tensor], slot: int) -> int:
    for cache in [keys, values]:
      for x in cache:
        x[slot].zero_()
    return slot

  # ---- optimizer -----------------------------------------------------------------------------------------------

  def zero(self, tensors: List[Tensor]) -> int:
    torch._foreach_zero_(tensors)
    return len(tensors)

  def ranges(self, tensors: List[Tensor], bounds: List[int]) -> List[Tensor]:
    parts = annotate(List[Tensor], [])
    for i in range(len(tensors)):
      flat = torch.view(torch.detach(tensors[i]), [-1])
      parts.append(flat[bounds[2 * i]:bounds[2 * i + 1]])
    return parts

  def norm(self, tensors: List[Tensor]) -> Tensor:
    return torch.linalg_vector_norm(torch.stack(torch._foreach_norm(tensors, 2)), 2)

  def scale(self, tensors: List[Tensor], factor: float) -> int:
    torch._foreach_mul_(tensors, factor)
    return len(tensors)

  def adamw(self, p: List[Tensor], g: List[Tensor], m: List[Tensor], v: List[Tensor], steps: List[Tensor], lr: float, beta1: float, beta2: float, weight_decay: float, eps: float) -> int:
    torch._foreach_add_(steps, 1)
    torch._fused_adamw_(p, g, m, v, annotate(List[Tensor], []), steps, lr=lr, beta1=beta1, beta2=beta2, weight_decay=weight_decay, eps=eps, amsgrad=False, maximize=False)
    return len(p)
