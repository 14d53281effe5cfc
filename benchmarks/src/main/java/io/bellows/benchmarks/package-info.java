/** Programs that the numbers in docs/performance.md come from. Each prints one JSON line. */
package io.bellows.benchmarks;
