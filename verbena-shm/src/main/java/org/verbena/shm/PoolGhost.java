package org.verbena.shm;

/** A peer that was stopped inside a transfer when our queue pair left it: what it claimed is not used before it goes on. */
record PoolGhost(Revocation.Inside inside) implements PoolUser {
    @Override
    public long hazard() {
        return inside.hasLeft() ? 0 : inside.word();
    }

    @Override
    public boolean isGone() {
        return inside.hasLeft();
    }
}
