// SPDX-License-Identifier: Apache-2.0
package org.verbena.telemetry;

import java.util.Collection;

/** The kinds of objects that a module counts; found by {@link java.util.ServiceLoader}. */
public interface KindProvider {
    /** The kinds. */
    Collection<? extends ObjectKind> kinds();
}
