import Timeline

/// When an item last rang since it was read, and how loudly.
struct Ring: Hashable, Codable, Sendable {
    var at: Moment
    var urgency: Urgency
}
