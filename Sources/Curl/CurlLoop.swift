import CCurl

/// The transfer thread's life: take orders, let libcurl work, hand out what is done, wait.
///
/// Everything here happens on that one thread, so nothing is locked. When nothing is under way it waits
/// without a time-out.
@safe
final class CurlLoop {
    private let multi: UnsafeMutableRawPointer
    let inbox: CurlInbox
    private var pools: CurlPools
    /// Keyed by the easy handle, as a number: what libcurl reports is found by it.
    private var underWay: [UInt: Entry] = [:]

    /// How many of the next announced orders are not waited for awake.
    private var waitsToSkip = 0

    /// How long an announced order is waited for awake: some syncs of a quick disk.
    private static let patience = Duration.microseconds(300)
    /// How many such waits are left out after one in vain.
    private static let skippedWaits = 16

    private struct Entry {
        let transfer: CurlTransfer
        let reply: CurlInbox.Reply
    }

    /// How many idle connections are kept, over all pools' hosts.
    private static let keptConnections = 64
    /// How many looks into the inbox in a row may find something before libcurl goes on with its transfers.
    private static let mostParts = 16
    /// How many requests may share one connection at a time, however many more its server allows.
    private static let mostStreams = 100

    /// A loop that has not begun.
    ///
    /// The corresponding C function is `curl_multi_init`.
    init(patience: Duration) throws(CurlError) {
        pools = CurlPools(patience: patience)
        let ready = CurlLibrary.initialisation
        guard ready == 0 else {
            throw .library(CurlError.Fault(code: ready, text: "libcurl could not be initialised"))
        }
        guard let multi = unsafe curl_multi_init() else { throw .library(.outOfMemory) }
        unsafe self.multi = multi
        inbox = unsafe CurlInbox(waking: multi)
        for (option, value) in [
            (CURLMOPT_MAXCONNECTS, Self.keptConnections), (CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX)),
            (CURLMOPT_MAX_CONCURRENT_STREAMS, Self.mostStreams),
        ] {
            let code = unsafe ccurl_multi_set_number(multi, option, value)
            guard code == CURLM_OK else { throw .library(CurlError.Fault(code)) }
        }
    }

    deinit {
        unsafe curl_multi_cleanup(multi)
    }

    /// Works until the inbox is closed.
    func run() {
        inbox.begin()
        var parts = 0
        while true {
            let batch = inbox.drain()
            if batch.isClosing {
                inbox.stop()
                end(batch.orders)
                return
            }
            for order in batch.orders { carryOut(order) }
            // A task comes in parts, each left by the one before: libcurl, which they ask nothing of, is called once for
            // all of them.
            if parts < Self.mostParts, batch.isOfParts, !inbox.isEmpty {
                parts += 1
                continue
            }
            parts = 0
            let wait = work()
            if inbox.isExpecting { expect() }
            // What was left on this thread has woken nobody.
            guard inbox.isEmpty else { continue }
            // A wake-up that came before this call ends it at once: none is missed.
            let code = unsafe curl_multi_poll(multi, nil, 0, wait, nil)
            if code != CURLM_OK { finishAll(.failure(.library(CurlError.Fault(code)))) }
        }
    }

    /// Waits awake for an order that was announced, where nothing else is to be done.
    ///
    /// Where such a wait was in vain, as on a slow disk, the next ones are left out.
    private func expect() {
        defer { inbox.endExpecting() }
        guard underWay.isEmpty else { return }
        if waitsToSkip > 0 {
            waitsToSkip -= 1
        } else if !inbox.awaitOrder(for: Self.patience) {
            waitsToSkip = Self.skippedWaits
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
                let key = CurlPools.Key(errand, isStreamed: reply.flow != nil)
                let transfer = try CurlTransfer(
                    errand, ticket: ticket, flow: reply.flow, pool: pools.pool(key, at: .now))
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
            if beginsAgain(UInt(bitPattern: easy), after: code) { continue }
            finish(UInt(bitPattern: easy)) { $0.outcome(code) }
        }
    }

    /// Whether a transfer that ended with `code` is under way once more.
    private func beginsAgain(_ key: UInt, after code: CURLcode) -> Bool {
        guard let transfer = underWay[key]?.transfer, transfer.mayBeginAgain(code) else { return false }
        unsafe curl_multi_remove_handle(multi, transfer.easy)
        return unsafe curl_multi_add_handle(multi, transfer.easy) == CURLM_OK
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
        pools.note(result, on: entry.transfer.pool, at: .now)
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

extension CurlError.Fault {
    /// A handle could not be made.
    ///
    /// The corresponding C value is `CURLE_OUT_OF_MEMORY`.
    static var outOfMemory: Self { Self(code: CURLE_OUT_OF_MEMORY.rawValue, text: "Out of memory") }
}

/// The pools of a loop, each with the connections that some requests may share.
///
/// Confined to the transfer thread.
struct CurlPools {
    /// Which requests may share a connection.
    struct Key: Hashable {
        /// The name of the guard, whose requests alone use its connections.
        let guardKey: String
        /// The server of requests that share one connection at the same time; nil: a connection carries one at a time.
        fileprivate(set) var origin: String?

        /// The pool of `errand`, whose answer is read piece by piece or as a whole.
        ///
        /// A streamed answer has a connection of its own: its reader makes the server wait by not reading, and everything
        /// else on that connection would wait with it.
        init(_ errand: CurlErrand, isStreamed: Bool) {
            guardKey = errand.addressGuard.key
            guard !isStreamed, case .request(let request) = errand,
                request.url.prefix(6).lowercased() == "https:"
            else {
                origin = nil
                return
            }
            origin = CurlURL(request.url).map { "\($0.host):\($0.port)" }
        }
    }

    /// How long a shared connection may be silent, while answers are due, before further requests get another one.
    let patience: Duration
    private var pools: [Key: CurlPool] = [:]
    /// The servers whose HTTP/2 failed, and until when one request at a time is sent to them.
    private var failed: [Key: ContinuousClock.Instant] = [:]

    /// How many pools may exist before the one is let go that was used least recently.
    private static let most = 32
    /// How many servers are remembered whose HTTP/2 failed.
    private static let mostFailed = 256
    /// How long a server whose HTTP/2 failed is remembered.
    private static let recovery = Duration.seconds(600)

    /// No pools yet.
    init(patience: Duration) { self.patience = patience }

    /// The pool for `key`.
    ///
    /// A new one where the connections of the old one have been silent for too long. Those under way keep the old one.
    mutating func pool(_ key: Key, at now: ContinuousClock.Instant) throws(CurlError) -> CurlPool {
        var key = key
        if !failed.isEmpty, let until = failed[key] {
            if until > now { key.origin = nil } else { failed[key] = nil }
        }
        if let pool = pools[key], !pool.isSilent(for: patience, at: now) { return pool }
        if pools[key] == nil, pools.count >= Self.most { removeOldest() }
        let pool = try CurlPool(isMultiplexed: key.origin != nil)
        pools[key] = pool
        return pool
    }

    private func key(of pool: CurlPool) -> Key? { pools.first { $0.value === pool }?.key }

    /// Applies how a request on the connections of `pool` ended.
    ///
    /// After an answer that did not come in time they get no further requests: one that carries a single request libcurl
    /// closes itself; a shared one it would keep, and each further request would wait as long.
    mutating func note(
        _ result: Result<CurlResponse, CurlError>, on pool: CurlPool, at now: ContinuousClock.Instant
    ) {
        guard pool.isMultiplexed, case .failure(let error) = result,
            let key = key(of: pool)
        else { return }
        switch error {
        case .timedOut(.answering, _): pools[key] = nil
        case .cut(let fault) where fault.isOfHTTP2:
            // HTTP/1.1 may work there; and of an early answer libcurl may have lost the head.
            if failed.count >= Self.mostFailed { failed = failed.filter { $0.value > now } }
            if failed.count < Self.mostFailed { failed[key] = now + Self.recovery }
        default: break
        }
    }

    /// Lets all go; transfers under way keep theirs.
    mutating func removeAll() { pools = [:] }

    private mutating func removeOldest() {
        // Its transfers under way keep it alive until they end.
        let oldest = pools.min { ($0.value.inUse, $0.value.usedAt) < ($1.value.inUse, $1.value.usedAt) }
        if let oldest { pools[oldest.key] = nil }
    }
}

/// Connections that are kept open for requests with one and the same key.
///
/// Confined to the transfer thread, so it needs no locks of its own. Every transfer holds the pool it
/// uses: it is released after the last of them.
@safe
final class CurlPool {
    /// Whether a connection of it may carry many requests at a time.
    let isMultiplexed: Bool
    /// How many transfers use it.
    private(set) var inUse = 0
    /// When a transfer began to use it last.
    private(set) var usedAt = ContinuousClock.now
    /// When a byte of any answer came last, or else the oldest of the requests under way began.
    private var lastByteAt = ContinuousClock.now
    private let share: UnsafeMutableRawPointer

    /// An empty pool.
    ///
    /// The corresponding C function is `curl_share_init`.
    init(isMultiplexed: Bool) throws(CurlError) {
        guard let share = unsafe curl_share_init() else { throw .library(.outOfMemory) }
        unsafe self.share = share
        self.isMultiplexed = isMultiplexed
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

    /// A transfer begins.
    func enter() {
        usedAt = .now
        if inUse == 0 { lastByteAt = usedAt }
        inUse += 1
    }

    /// A transfer has ended.
    func leave() { inUse -= 1 }

    /// Some bytes of an answer came.
    func noteBytes() {
        if isMultiplexed { lastByteAt = .now }
    }

    /// Whether answers are due over shared connections, and none of them got a byte for so long.
    func isSilent(for patience: Duration, at now: ContinuousClock.Instant) -> Bool {
        isMultiplexed && inUse > 0 && lastByteAt + patience < now
    }
}

@available(*, unavailable) extension CurlPool: Sendable {}
