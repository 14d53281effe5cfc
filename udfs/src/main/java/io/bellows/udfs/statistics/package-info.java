/** Statistics of evaluation. */
package io.bellows.udfs.statistics;
