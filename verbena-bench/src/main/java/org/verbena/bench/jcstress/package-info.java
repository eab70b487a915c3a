/** Concurrency stress tests: every outcome that the memory model allows, and no other. */
package org.verbena.bench.jcstress;
