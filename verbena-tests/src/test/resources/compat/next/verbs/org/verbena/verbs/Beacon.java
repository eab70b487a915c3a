// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.List;

/** An object of the next version. */
public abstract class Beacon extends VerbsObject {
    protected Beacon(Context context) throws VerbsException {
        super(List.of(context));
    }

    public abstract int light();
}
