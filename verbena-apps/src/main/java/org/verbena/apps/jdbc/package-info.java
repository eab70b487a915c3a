// SPDX-License-Identifier: Apache-2.0
/** A client of PostgreSQL, on classic sockets. */
@org.jspecify.annotations.NullMarked
package org.verbena.apps.jdbc;
