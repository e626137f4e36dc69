package import Delivery
import Ledger
import Synchronization
import Timeline

/// The active configuration, shared by the keepers; a reload replaces it in one step and wakes them.
package final class ActiveConfiguration: Sendable {
    private struct State {
        var configuration: EngineConfiguration
        /// What was derived from it; nil: nobody has asked yet.
        var rules: ActiveRules?
    }

    private let current: Mutex<State>
    private let lastRefusal = Mutex<String?>(nil)
    private let lastDoorFault = Mutex<String?>(nil)
    private let changes = Broadcast<Void>()
    /// Whether a person asked to see what quiet hours and budgets keep back.
    let isReleaseAsked = Flag(false)
    /// Callers that change what is active pass one by one.
    let turnstile = Turnstile()
    /// What the keeper of items and those who send for the channels must agree on.
    package let inHand = EntriesInHand()

    package init(_ configuration: EngineConfiguration) {
        current = Mutex(State(configuration: configuration))
    }

    /// The configuration now.
    package var configuration: EngineConfiguration { current.withLock(\.configuration) }

    /// The same with what turns of the items decide by.
    var rules: ActiveRules {
        current.withLock { state in
            if let rules = state.rules { return rules }
            let rules = ActiveRules(state.configuration)
            state.rules = rules
            return rules
        }
    }

    /// Why the last reload was refused; nil: it was not.
    package var refusal: String? {
        get { lastRefusal.withLock { $0 } }
        set { lastRefusal.withLock { $0 = newValue } }
    }

    /// Why the API is not served over TCP although it should be; nil: it is, or need not be.
    package var doorFault: String? {
        get { lastDoorFault.withLock { $0 } }
        set { lastDoorFault.withLock { $0 = newValue } }
    }

    /// Makes another one active.
    package func replace(with configuration: EngineConfiguration) {
        current.withLock { $0 = State(configuration: configuration) }
        changes.publish(())
    }

    /// Changes a part of it in one step.
    @discardableResult
    package func change<Result: Sendable>(_ body: (inout EngineConfiguration) -> Result) -> Result {
        let result = current.withLock { state in
            state.rules = nil
            return body(&state.configuration)
        }
        changes.publish(())
        return result
    }

    /// Has the keeper of items show what quiet hours and budgets keep back.
    func askForRelease() {
        isReleaseAsked.set(true)
        changes.publish(())
    }

    /// An element at once, and after each reload.
    package func taps() -> AsyncStream<Void> { changes.values(first: ()) }

    /// The channels that have an outbox.
    package var edges: [any EdgeChannel] { configuration.channels.compactMap { $0 as? any EdgeChannel } }

    /// The channel of that name; nil: it was removed, or never was.
    package func channel(_ name: String) -> (any Channel)? {
        configuration.channels.first { $0.name == name }
    }
}

/// Whether the jobs of the files are loaded: a request that needs jobs waits for it after a start.
package final class Loading: Sendable {
    /// How long a request waits.
    let timeout: Duration
    private let done: Mutex<Bool>
    private let changes = Broadcast<Void>()

    /// Done already unless the daemon is only starting; a request waits less long than clients do.
    package init(isDone: Bool = true, timeout: Duration = .seconds(4)) {
        done = Mutex(isDone)
        self.timeout = timeout
    }

    package var isDone: Bool { done.withLock { $0 } }

    /// The jobs are loaded from now on.
    func finish() {
        done.withLock { $0 = true }
        changes.publish(())
    }

    /// Returns once the jobs are loaded, or the task is cancelled.
    func wait() async {
        for await _ in changes.values(first: ()) where isDone { return }
    }
}

extension Control {
    /// Returns once the jobs of the files are loaded.
    ///
    /// - Throws: ``EngineError/starting`` when they are not after ``Loading/timeout`` of waiting.
    package func whenLoaded() async throws(EngineError) {
        guard !loading.isDone else { return }
        let limit = clock.now + loading.timeout
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await loading.wait() }
            group.addTask { [clock] in try? await clock.sleep(until: limit) }
            await group.next()
            group.cancelAll()
        }
        guard loading.isDone else { throw .starting }
    }
}

/// Lets one caller through at a time, in the order in which they come.
///
/// For steps that await and must not be cut into by others of their kind, such as two reloads.
final class Turnstile: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Runs `body` once nobody else is inside; a caller that is cancelled waits all the same.
    func pass<Value, Failure: Error>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        await enter()
        defer { leave() }
        return try await body()
    }

    private func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
