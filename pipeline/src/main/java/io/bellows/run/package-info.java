/** The run directory, its manifests, and the loop over iterations. */
package io.bellows.run;
