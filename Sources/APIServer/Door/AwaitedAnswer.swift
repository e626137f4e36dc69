import API
import NIOCore

/// An answer that may take hours, as that of a tool that asks a person: nobody works on it once nobody waits for it.
struct AwaitedAnswer {
    /// Makes the answer.
    let work: @Sendable () async -> APIResponse

    /// The answer; the work is cancelled when the connection ends before it.
    @concurrent
    func value(untilEndOf channel: any Channel) async -> APIResponse {
        let (closed, closing) = AsyncStream.makeStream(of: Never.self)
        channel.closeFuture.whenComplete { _ in closing.finish() }
        return await withTaskGroup(of: APIResponse?.self) { [work] group in
            group.addTask { await work() }
            group.addTask {
                for await _ in closed {}
                return nil
            }
            var answer: APIResponse?
            for await next in group {
                answer = answer ?? next
                // Work that is cancelled ends by itself, with what it began.
                if next == nil { group.cancelAll() } else { closing.finish() }
            }
            return answer ?? .failure(APIError(.stopping))
        }
    }
}
