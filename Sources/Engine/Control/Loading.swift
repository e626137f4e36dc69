import Synchronization
import Timeline

/// Whether the jobs of the files are in force: a request that needs jobs waits for it after a start.
package final class Loading: Sendable {
    /// How long a request waits.
    let patience: Duration
    private let done: Mutex<Bool>
    private let changes = Taps()

    /// Done already unless the daemon is only starting; a request waits less long than clients have patience.
    package init(isDone: Bool = true, patience: Duration = .seconds(4)) {
        done = Mutex(isDone)
        self.patience = patience
    }

    package var isDone: Bool { done.withLock { $0 } }

    /// The jobs are in force from now on.
    func finish() {
        done.withLock { $0 = true }
        changes.tap()
    }

    /// Returns once the jobs are in force, or the task is cancelled.
    func wait() async {
        for await _ in changes.stream() where isDone { return }
    }
}

extension Control {
    /// Returns once the jobs of the files are in force.
    ///
    /// - Throws: ``EngineError/starting`` when they are not after ``Loading/patience`` of waiting.
    package func whenLoaded() async throws(EngineError) {
        guard !loading.isDone else { return }
        let limit = clock.now + loading.patience
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await loading.wait() }
            group.addTask { [clock] in try? await clock.sleep(until: limit) }
            await group.next()
            group.cancelAll()
        }
        guard loading.isDone else { throw .starting }
    }
}
