/** Statistics over masked values, and of evaluation. */
package io.bellows.udfs.statistics;
