/** JMH benchmarks: what one call costs in time and in bytes. */
package org.verbena.bench.jmh;
