/// Who is at the other end of a channel.
package enum Audience: String, Hashable, Sendable, CaseIterable {
    /// Somebody who reads: what was held comes as one digest.
    case people
    /// A program that acts on each thing it is sent: what was held comes one by one.
    case programs
    /// What watches over this machine, or wakes somebody: quiet hours and budgets never hold it.
    case pagers
}
