import CCurl
import Glibc

/// The transfer thread's life: take orders, let libcurl work, hand out what is done, wait.
///
/// Everything here happens on that one thread, so nothing is locked. When nothing is under way it waits
/// without a time-out.
@safe
final class CurlLoop {
    private let multi: UnsafeMutableRawPointer
    let inbox: CurlInbox
    private var pools: [String: CurlPool] = [:]
    /// Keyed by the easy handle, as a number: what libcurl reports is found by it.
    private var underWay: [UInt: Entry] = [:]

    private struct Entry {
        let transfer: CurlTransfer
        let reply: CurlInbox.Reply
    }

    /// How many idle connections are kept, over all pools' hosts.
    private static let keptConnections = 64
    /// How many pools may exist before those nobody uses are let go.
    private static let keptPools = 32

    /// A loop that has not begun.
    ///
    /// The corresponding C function is `curl_multi_init`.
    init() throws(CurlError) {
        let ready = CurlLibrary.initialisation
        guard ready == 0 else {
            throw .library(CurlError.Fault(code: ready, text: "libcurl could not be initialised"))
        }
        guard let multi = unsafe curl_multi_init() else { throw .library(.outOfMemory) }
        unsafe self.multi = multi
        inbox = unsafe CurlInbox(waking: multi)
        let code = unsafe ccurl_multi_set_number(multi, CURLMOPT_MAXCONNECTS, Self.keptConnections)
        guard code == CURLM_OK else { throw .library(CurlError.Fault(code)) }
    }

    deinit {
        unsafe curl_multi_cleanup(multi)
    }

    /// Works until the inbox is closed.
    func run() {
        inbox.begin()
        while true {
            let batch = inbox.drain()
            if batch.isClosing {
                inbox.stop()
                end(batch.orders)
                return
            }
            for order in batch.orders { carryOut(order) }
            let wait = work()
            // What was left on this thread has woken nobody.
            guard inbox.isEmpty else { continue }
            // A wake-up that came before this call ends it at once: none is missed.
            let code = unsafe curl_multi_poll(multi, nil, 0, wait, nil)
            if code != CURLM_OK { finishAll(.failure(.library(CurlError.Fault(code)))) }
        }
    }

    /// Lets libcurl do what it can now; returns the milliseconds it may be left alone at most.
    private func work() -> Int32 {
        var running: Int32 = 0
        let code = unsafe curl_multi_perform(multi, &running)
        if code != CURLM_OK { finishAll(.failure(.library(CurlError.Fault(code)))) }
        finishDone()
        return finishOverdue()
    }

    private func carryOut(_ order: CurlInbox.Order) {
        switch order {
        case .start(let errand, let ticket, let reply):
            do throws(CurlError) {
                let transfer = try CurlTransfer(
                    errand, ticket: ticket, flow: reply.flow, pool: pool(errand.addressGuard.key))
                let code = unsafe curl_multi_add_handle(multi, transfer.easy)
                guard code == CURLM_OK else { throw .library(CurlError.Fault(code)) }
                underWay[transfer.key] = Entry(transfer: transfer, reply: reply)
            } catch {
                reply.finish(.failure(error))
            }
        case .cancel(let ticket):
            // Not found means it was answered meanwhile.
            guard let found = transfer(ticket) else { return }
            finish(found.key) { _ in .failure(.canceled) }
        case .run(let part): part()
        case .resume(let ticket):
            guard let found = transfer(ticket) else { return }
            let code = found.resume()
            if code != CURLE_OK { finish(found.key) { $0.outcome(code) } }
        }
    }

    private func transfer(_ ticket: UInt64) -> CurlTransfer? {
        underWay.values.first { $0.transfer.ticket == ticket }?.transfer
    }

    private func pool(_ key: String) throws(CurlError) -> CurlPool {
        if let pool = pools[key] { return pool }
        if pools.count >= Self.keptPools {
            // The guard changed often (reloads): pools are kept alive by their transfers still under way.
            pools.removeAll()
        }
        let pool = try CurlPool()
        pools[key] = pool
        return pool
    }
}

@available(*, unavailable) extension CurlLoop: Sendable {}

// MARK: - Endings

extension CurlLoop {
    private func finishDone() {
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(multi, &left) {
            // Both are copied first: the message is freed when its handle leaves the multi.
            let code = unsafe message.pointee.data.result
            guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle
            else { continue }
            finish(UInt(bitPattern: easy)) { $0.outcome(code) }
        }
    }

    /// Ends the transfers whose lookup or whose next byte takes too long; returns when the next may be overdue.
    private func finishOverdue() -> Int32 {
        var wait = Duration.seconds(3600)
        let now = ContinuousClock.now
        for (key, entry) in underWay {
            guard let deadline = entry.transfer.deadline else { continue }
            if deadline <= now {
                finish(key) { $0.outcomeOfDeadline() }
            } else {
                wait = min(wait, now.duration(to: deadline))
            }
        }
        let (seconds, attoseconds) = wait.components
        return Int32(seconds * 1000 + attoseconds / 1_000_000_000_000_000) + 1
    }

    private func finishAll(_ result: Result<CurlResponse, CurlError>) {
        for key in underWay.keys { finish(key) { _ in result } }
    }

    private func finish(
        _ key: UInt, _ outcome: (CurlTransfer) -> Result<CurlResponse, CurlError>
    ) {
        guard let entry = underWay.removeValue(forKey: key) else { return }
        let result = outcome(entry.transfer)
        unsafe curl_multi_remove_handle(multi, entry.transfer.easy)
        entry.reply.finish(result)
    }

    private func end(_ orders: [CurlInbox.Order]) {
        finishAll(.failure(.closed))
        for order in orders {
            switch order {
            case .start(_, _, let reply): reply.finish(.failure(.closed))
            case .run(let part): part()
            case .resume, .cancel: break
            }
        }
        pools.removeAll()
    }
}

extension CurlError.Fault {
    init(_ code: CURLMcode) {
        self.init(
            code: UInt32(bitPattern: code.rawValue), text: unsafe String(cString: curl_multi_strerror(code)))
    }
}

/// Connections that are kept open for requests with one and the same guard key.
///
/// Confined to the transfer thread, so it needs no locks of its own. Every transfer holds the pool it
/// uses: it is released after the last of them.
@safe
final class CurlPool {
    private let share: UnsafeMutableRawPointer

    /// An empty pool.
    ///
    /// The corresponding C function is `curl_share_init`.
    init() throws(CurlError) {
        guard let share = unsafe curl_share_init() else { throw .library(.outOfMemory) }
        unsafe self.share = share
        let code = unsafe ccurl_share_data(share, CURL_LOCK_DATA_CONNECT)
        guard code == CURLSHE_OK else {
            let text = unsafe String(cString: curl_share_strerror(code))
            throw .library(CurlError.Fault(code: code.rawValue, text: text))
        }
    }

    deinit {
        unsafe curl_share_cleanup(share)
    }

    /// Makes a transfer take its connection from here, and leave it here.
    func serve(_ easy: UnsafeMutableRawPointer) -> CURLcode {
        unsafe ccurl_set_pointer(easy, CURLOPT_SHARE, share)
    }
}

@available(*, unavailable) extension CurlPool: Sendable {}

extension CurlError.Fault {
    /// A handle could not be made.
    ///
    /// The corresponding C value is `CURLE_OUT_OF_MEMORY`.
    static var outOfMemory: Self { Self(code: CURLE_OUT_OF_MEMORY.rawValue, text: "Out of memory") }
}
