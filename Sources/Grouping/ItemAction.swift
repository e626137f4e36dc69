public import Timeline

/// What an item asks of its owner.
public enum ItemAction: Hashable, Sendable {
    /// Show this version; whether it rings, and why, is its reason.
    case flush(ItemSnapshot)
    /// Call `wake` at this moment. The moment is also in the saved state.
    case wakeAt(Moment)
    /// Nothing is left to show: take the item away everywhere, under this revision.
    case resolve(revision: Int)
}
