/** What benchmarks and concurrency tests share. */
package org.verbena.bench;
