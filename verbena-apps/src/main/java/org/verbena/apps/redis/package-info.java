// SPDX-License-Identifier: Apache-2.0
/** A client of Redis, on Netty. */
@org.jspecify.annotations.NullMarked
package org.verbena.apps.redis;
