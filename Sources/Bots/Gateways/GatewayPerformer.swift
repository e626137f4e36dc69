package import GatewayClient
import Host
import OpenClaw
package import Performing
package import Prompting
import Synchronization
package import Timeline
import Tracking

/// Asks agents behind gateways: each attempt is one run of the gateway, which outlives a connection and the daemon.
///
/// A prompt is noted before it is sent. Whoever finds the note afterwards asks the gateway what happened to it, and sends it
/// again only where the gateway shows that it never arrived.
package final class GatewayPerformer: TaskPerformer {
    package let attempts = OwnAttempts()
    package let survivesTheDaemon = true
    /// The attempts of an earlier daemon whose notes can't be read, and why: nobody asks for them again.
    package let unreadable: [RunKey: String]
    private let notes: AttemptNotes<GatewayNote>
    private let known: Mutex<[RunKey: GatewayNote]>
    private let clock: any WallClock
    private let find: @Sendable (String) async throws(AttemptFault) -> BotInUse?
    private let links: GatewayPool
    private let sent: SentPrompts

    /// A performer that asks the bots that `find` returns, over their links; in `folder` it keeps what it must know of
    /// prompts under way.
    ///
    /// - Throws: a `HostError` where that folder can't be read.
    package init(
        folder: String, clock: any WallClock, links: GatewayPool, sent: SentPrompts,
        find: @escaping @Sendable (String) async throws(AttemptFault) -> BotInUse?
    ) throws {
        notes = AttemptNotes(folder: folder)
        (self.clock, self.links, self.find) = (clock, links, find)
        self.sent = sent
        let recalled = try notes.all()
        unreadable = recalled.unreadable
        known = Mutex(recalled.readable)
    }

    // MARK: Performer

    package func connect() async throws -> Int32? {
        for (key, note) in known.withLock({ $0 }) { resume(key, note) }
        attempts.reportAll()
        return nil
    }

    package func holds(_ key: RunKey) -> Bool { known.withLock { $0[key] != nil } }

    package func start(_ order: AttemptOrder) {
        guard case .prompt(let prompt) = order else {
            return attempts.report(.refused(order.key, .badOrder, text: "a gateway runs no programs"))
        }
        if let note = known.withLock({ $0[prompt.key] }) { return resume(prompt.key, note) }
        let draft = GatewayNote(draftOf: prompt, at: clock.now)
        // Before it is reported to run: the next daemon knows then that nothing was sent. Without a draft it would be lost.
        try? notes.keep(draft, of: prompt.key, isDurable: false)
        known.withLock { $0[prompt.key] = draft }
        begin(draft, prompt.key)
    }

    /// Sends what was not sent yet.
    private func begin(_ draft: GatewayNote, _ key: RunKey) {
        attempts.begin(key, at: draft.sent) { [self] in
            await perform(key, since: draft.sent) { () async throws(AttemptFault) in
                try await make(draft, key)
            }
        }
    }

    package func acknowledge(_ key: RunKey) {
        attempts.acknowledge(key)
        guard known.withLock({ $0.removeValue(forKey: key) }) != nil else { return }
        notes.remove(key)
    }

    // MARK: An attempt

    private func resume(_ key: RunKey, _ note: GatewayNote) {
        if note.isDraft { return begin(note, key) }
        attempts.begin(key, at: note.sent) { [self] in
            await perform(key, since: note.sent, isFresh: false) { () throws(AttemptFault) in note }
        }
    }

    private func perform(
        _ key: RunKey, since start: Moment, isFresh: Bool = true,
        _ make: () async throws(AttemptFault) -> GatewayNote
    ) async -> ExitRecord {
        let watch = clock.sinceBoot - (isFresh ? .zero : max(clock.now - start, .zero))
        var record = ExitRecord(key: key, cause: .exited, startedAt: start, endedAt: start)
        do throws(AttemptFault) {
            let note = try await make()
            let talk = try GatewayTalk(
                note, key, among: sent.prompts(in: note.session), clock: clock, since: watch,
                link: links.link(of: note.bot),
                report: { [attempts] in attempts.report(.progress(key, $0)) })
            let end = try await end(of: note, key, talk, isFresh: isFresh)
            talk.apply(end, to: &record)
        } catch {
            record.fault = error
        }
        record.elapsed = clock.sinceBoot - watch
        record.endedAt = clock.now
        return record
    }

    /// Keeps the note, talks, and keeps the end.
    private func end(
        of note: GatewayNote, _ key: RunKey, _ talk: GatewayTalk, isFresh: Bool
    ) async throws(AttemptFault) -> GatewayNote.End {
        if let end = note.end { return end }
        // What is canceled before it is sent was never sent.
        if isFresh, Task.isCancelled { return GatewayNote.End() }
        if isFresh { try keep(note, key) }
        var ended = note
        let end = await talk.run(isFresh: isFresh)
        // Where it can't be noted, the next prompt of these words may be taken for this one, as without a note.
        if talk.isTaken {
            try? sent.noteTaken(note.session, at: note.sent, SentPrompt.End(end.reply, at: clock.now))
        }
        if !Task.isCancelled {
            ended.end = end
            // Where it can't be kept, the gateway still knows it.
            try? keep(ended, key)
        }
        return end
    }

    private func keep(_ note: GatewayNote, _ key: RunKey) throws(AttemptFault) {
        do throws(HostError) {
            if note.end == nil {
                try sent.note(SentPrompt(note.text, to: note.session, at: note.sent))
            }
            try notes.keep(note, of: key, isDurable: true)
        } catch {
            throw AttemptFault(
                .spawnFailed, "\(note.bot): the prompt can't be kept: \(error)", mayPass: true,
                wasTried: false)
        }
        known.withLock { $0[key] = note }
    }

    /// How long a prompt waits for the connection, before its run waits instead.
    private static let patience = Duration.seconds(10)

    private func make(_ order: GatewayNote, _ key: RunKey) async throws(AttemptFault) -> GatewayNote {
        guard let bot = try await find(order.bot), let gateway = bot.gateway else {
            throw AttemptFault(
                .botUnavailable, "\(order.bot): its backend is no longer a gateway; repeat the run",
                mayPass: true, wasTried: false)
        }
        if let fault = bot.fault {
            throw AttemptFault(.botUnavailable, "\(order.bot): \(fault)", wasTried: false)
        }
        attempts.report(.progress(key, ReplyProgress.waiting))
        guard let link = links.link(of: order.bot), let hello = await link.online(within: Self.patience)
        else {
            throw await links.fault(of: order.bot, at: gateway.place)
        }
        if let scope = hello.missingScopes.first {
            throw AttemptFault(
                .auth,
                "\(order.bot): the gateway at \(gateway.place) does not grant \(scope) to this device; "
                    + "approve it with: openclaw devices list")
        }
        var note = order
        (note.session, note.sent) = (gateway.sessionKey(in: hello, for: key), clock.now)
        note.isDelivered = gateway.session == .synced
        return note
    }
}

extension GatewayPool {
    /// Why the bot's gateway can't be asked now.
    func fault(of bot: String, at place: String) async -> AttemptFault {
        guard let link = link(of: bot), case .away(let trouble, _) = await link.state else {
            return AttemptFault(
                .botUnavailable, "\(bot): the gateway at \(place) is not connected yet", mayPass: true)
        }
        let hint = "; \(trouble.hint(of: bot))"
        return AttemptFault(
            trouble.needsPerson ? .auth : .botUnavailable, trouble.sentence(of: bot, at: place) + hint,
            mayPass: !trouble.needsPerson)
    }
}
