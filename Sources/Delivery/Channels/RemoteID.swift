/// What a server calls the thing it shows for us.
package struct RemoteID: Hashable, Codable, Sendable {
    /// The life of the server that gave the id, as the unique name of its bus connection.
    ///
    /// Ids die with the server; an id of another generation must never be used, it may hit a stranger.
    package var generation: String
    /// The id within that generation.
    package var id: String

    /// An id given by the server of that generation.
    package init(generation: String, id: String) {
        self.generation = generation
        self.id = id
    }
}
