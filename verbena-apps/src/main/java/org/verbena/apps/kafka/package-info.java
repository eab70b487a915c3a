// SPDX-License-Identifier: Apache-2.0
/** Clients of Kafka. */
@org.jspecify.annotations.NullMarked
package org.verbena.apps.kafka;
