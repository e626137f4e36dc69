import Synchronization

/// An answer whose body arrives piece by piece.
///
/// Its reader sets the pace: while ``window`` bytes wait to be read, the transfer is paused and the server has to
/// wait. For one reader at a time. Releasing it ends the transfer.
package final class CurlStream: Sendable {
    /// How many bytes may wait for the reader before the transfer is paused; one piece more may be held.
    package static let window = 256 * 1024

    /// The status, 100...999.
    package let status: Int
    /// The header lines of the final answer, in the order they came.
    package let headers: [CurlHeader]
    private let flow: CurlFlow

    init(_ head: CurlHead, _ flow: CurlFlow) {
        status = head.status
        headers = head.headers
        self.flow = flow
    }

    deinit {
        flow.cancel()
    }

    /// The value of the first header of this name, whatever its case.
    package func header(_ name: String) -> String? { headers.first(of: name) }

    /// Waits for the next bytes of the body; `nil` at its end.
    ///
    /// - Throws: ``CurlError``, when what had arrived before was read; ``CurlError/canceled`` when the task is
    ///   cancelled, which ends the transfer.
    package func next() async throws(CurlError) -> [UInt8]? { try await flow.next() }

    /// Ends the transfer; what has not been read is dropped.
    package func cancel() { flow.cancel() }
}

extension CurlMulti {
    /// Sends a request and returns when the head of its answer has arrived, whatever its status.
    ///
    /// The request's ``CurlRequest/bodyLimit`` has no meaning here: what is not read is not kept. Its total time
    /// includes the whole body.
    /// - Throws: as ``perform(_:)``.
    package func open(_ request: CurlRequest) async throws(CurlError) -> CurlStream {
        let flow = CurlFlow(inbox: inbox)
        guard inbox.leave(.start(.request(request), ticket: flow.ticket, .pieces(flow))) else {
            throw .closed
        }
        let head = try await flow.head()
        return CurlStream(head, flow)
    }
}

/// The head of an answer.
struct CurlHead: Sendable {
    let status: Int
    let headers: [CurlHeader]
}

/// What the transfer thread and the reader of one streamed answer both touch.
final class CurlFlow: Sendable {
    private struct State {
        var head: CurlHead?
        var bytes: [UInt8] = []
        var isPaused = false
        var end: Result<Void, CurlError>?
        var reader: CheckedContinuation<Void, Never>?
    }

    let ticket: UInt64
    private let inbox: CurlInbox
    private let state = Mutex(State())

    init(inbox: CurlInbox) {
        self.inbox = inbox
        ticket = inbox.makeTicket()
    }

    // Called by the transfer thread.

    /// The head has arrived.
    func receive(_ head: CurlHead) {
        wake { $0.head = head }
    }

    /// Some bytes of the body; false: there is no room for them, and they have to come again after a pause.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let (hasRoom, reader) = state.withLock { state in
            guard state.bytes.count < CurlStream.window else {
                state.isPaused = true
                return (false, nil as CheckedContinuation<Void, Never>?)
            }
            unsafe state.bytes.append(contentsOf: bytes)
            return (true, state.reader.take())
        }
        reader?.resume()
        return hasRoom
    }

    /// Whether the reader, and not the server, keeps the transfer waiting.
    var isPaused: Bool { state.withLock { $0.isPaused } }

    /// The transfer has ended.
    func finish(_ end: Result<Void, CurlError>) {
        wake { $0.end = $0.end ?? end }
    }

    private func wake(_ change: (inout State) -> Void) {
        let reader = state.withLock { state in
            change(&state)
            return state.reader.take()
        }
        reader?.resume()
    }

    // Called by the reader.

    func head() async throws(CurlError) -> CurlHead {
        while true {
            let (head, end) = state.withLock { ($0.head, $0.end) }
            if let head { return head }
            switch end {
            case .failure(let error): throw error
            // An end without a head is what libcurl calls an empty answer.
            case .success: throw .cut(CurlError.Fault(code: 0, text: "the answer has no head"))
            case nil: try await wait { $0.head != nil }
            }
        }
    }

    func next() async throws(CurlError) -> [UInt8]? {
        while true {
            let (bytes, end, wasPaused) = state.withLock { state in
                defer {
                    state.bytes = []
                    state.isPaused = false
                }
                return (state.bytes, state.end, state.isPaused)
            }
            if wasPaused { _ = inbox.leave(.resume(ticket: ticket)) }
            if !bytes.isEmpty { return bytes }
            switch end {
            case .success: return nil
            case .failure(let error): throw error
            case nil: try await wait { !$0.bytes.isEmpty }
            }
        }
    }

    /// Ends the transfer and the wait of the reader.
    func cancel() {
        wake { state in
            if state.end == nil { state.end = .failure(.canceled) }
        }
        _ = inbox.leave(.cancel(ticket: ticket))
    }

    /// Waits until `isReady`, or the end.
    private func wait(until isReady: (borrowing State) -> Bool) async throws(CurlError) {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    if isReady(state) || state.end != nil { return true }
                    state.reader = continuation
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            cancel()
        }
    }
}

extension CurlInbox.Reply {
    /// Where the pieces go; `nil` for an answer that is handed over when it is complete.
    var flow: CurlFlow? {
        switch self {
        case .whole: nil
        case .pieces(let flow): flow
        }
    }
}

extension [CurlHeader] {
    /// The value of the first header of this name, whatever its case.
    func first(of name: String) -> String? {
        let wanted = name.lowercased()
        return first { $0.name.lowercased() == wanted }?.value
    }
}
