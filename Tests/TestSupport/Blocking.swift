import Host

/// Runs what blocks on a thread of its own: the pool's threads must stay free for others.
package func blocking<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        do {
            try BackgroundThread.start(named: "client") {
                continuation.resume(with: Swift.Result { try body() })
            }
        } catch {
            continuation.resume(throwing: error)
        }
    }
}
