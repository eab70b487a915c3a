/** Clients of Kafka. */
@org.jspecify.annotations.NullMarked
package org.verbena.apps.kafka;
