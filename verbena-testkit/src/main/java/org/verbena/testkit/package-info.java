// SPDX-License-Identifier: Apache-2.0
/** What the tests of several modules need. It knows none of them, and is no part of what is released. */
@NullMarked
package org.verbena.testkit;

import org.jspecify.annotations.NullMarked;
