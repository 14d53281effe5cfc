/**
 * Datasets in: the files people have, as they are, to one table of prompts with stable ids and a report of what was wrong.
 *
 * <p>Datasets are hostile text: columns are data, never names of classes or paths.
 */
package io.bellows.data;
