// SPDX-License-Identifier: Apache-2.0
/** Programs that know nothing of Verbena; each exchanges lines with the test that starts it. */
@org.jspecify.annotations.NullMarked
package org.verbena.apps;
