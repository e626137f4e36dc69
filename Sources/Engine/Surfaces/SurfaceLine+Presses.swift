import Delivery
import Grouping
import Ledger
import Logging
import Timeline

// What people do with what is shown.

extension SurfaceLine {
    /// A person pressed a button.
    ///
    /// What it asks for is done before it is noted: who dies between the two has done it, and a button that is pressed
    /// again runs into what the first one did.
    func press(_ key: String, of remote: RemoteID) async throws(LedgerError) {
        guard let surface = try await surface(remote) else { return }
        if let place = NoticeAction.place(behind: key) {
            return try await showButtons(of: surface, from: place, insteadOf: remote)
        }
        guard key != NoticeAction.defaultKey else {
            try await commit(changes.opened(surface, key: key))
            farEnd.pressed.insert(remote)
            return
        }
        let snapshot = try await snapshot(of: surface.item)
        switch NoticeButton(rawValue: key) {
        case .markRead: try await commit(changes.opened(surface, key: key))
        case .snooze:
            try await silence(
                surface, snapshot, for: NoticeButton.snoozeTime, changes.snoozed(surface, key: key))
            await channel.close(remote)
        case .mute:
            try await silence(
                surface, snapshot, for: NoticeButton.muteTime, changes.opened(surface, key: key))
        case .open, .reply, .log:
            if let command = snapshot?.terminalCommand { await channel.openTerminal(command) }
            try await commit(changes.pressed(surface, key: key))
        case .runAgain, .cancel, .pause, .resume:
            if let press = snapshot?.press(key) { await tools.act(press) }
            try await commit(changes.pressed(surface, key: key))
        case nil:
            guard try await mayAnswer(snapshot) else { return }
            try await commit(changes.pressed(surface, key: key))
        }
        farEnd.pressed.insert(remote)
    }

    /// A person typed a reply.
    func reply(_ text: String, to remote: RemoteID) async throws(LedgerError) {
        guard let surface = try await surface(remote),
            try await mayAnswer(try await snapshot(of: surface.item))
        else { return }
        try await commit(changes.replied(surface, text) + saying(text, about: surface))
        farEnd.pressed.insert(remote)
    }

    /// Whether an answer to a question counts: nobody answers here what is not shown here, whatever the far end says.
    private func mayAnswer(_ snapshot: ItemSnapshot?) async throws(LedgerError) -> Bool {
        guard let snapshot, case .question = snapshot.content else { return true }
        return !(try await notice(of: snapshot)).actions.isEmpty
    }

    /// Shows the buttons for which there was no room, in a notice that takes the place of the one that was pressed.
    ///
    /// Most servers have closed that by now, so nothing is replaced.
    private func showButtons(
        of surface: SurfaceRecord, from place: Int, insteadOf remote: RemoteID
    ) async throws(LedgerError) {
        guard let snapshot = try await snapshot(of: surface.item), surface.wanted == surface.shown else {
            return
        }
        var notice = try await notice(of: snapshot)
        guard place < notice.actions.count else { return }
        (notice.firstButton, notice.ring) = (place, false)
        do {
            let shown = try await channel.show(notice, replacing: nil)
            try await settle(surface, at: surface.shown, remote: shown)
            if shown != remote { await channel.close(remote) }
        } catch let error as LedgerError {
            throw error
        } catch {
            logger.info(
                "more buttons are not shown", metadata: ["item": "\(surface.item)", "reason": "\(error)"])
        }
    }

    /// Silences what a notice is about on this channel, together with what else the button comes to.
    private func silence(
        _ surface: SurfaceRecord, _ snapshot: ItemSnapshot?, for duration: Duration, _ changes: [Change]
    ) async throws(LedgerError) {
        let now = clock.now
        let matchers = snapshot?.matchers(for: duration, on: channel.name) ?? []
        let silence = try? Silence(
            id: tools.makeID(), matchers: matchers, from: now, until: now + duration, by: channel.name,
            note: "by a button")
        guard let silence else { return try await commit(changes) }
        let configuration = tools.activeConfiguration
        try await configuration.turnstile.pass { () async throws(LedgerError) in
            try await commit(changes + [.putSilence(silence, endedBefore: now - Control.silencesKept)])
            configuration.change {
                $0.silences.removeAll { $0.until <= now }
                $0.silences.append(silence)
            }
        }
    }

    /// What a person typed into a notice of a thread is said to its bot, which answers it as any other message.
    ///
    /// Of a question its keeper finds the answer.
    func saying(_ text: String, about surface: SurfaceRecord) async throws(LedgerError) -> [Change] {
        guard case .thread(let bot, let thread)? = ItemKey(surface.item), !Preview.isEmpty(text),
            tools.activeConfiguration.configuration.bot(bot).contact != nil
        else { return [] }
        let now = clock.now
        let message = Message(
            id: tools.makeID(), bot: bot, thread: thread, author: .user,
            text: SurfaceChanges.kept(ofReply: text), at: now)
        var replied: String?
        if case .messages(_, let last)? = try await snapshot(of: surface.item)?.content {
            replied = last.last?.id
        }
        return [
            .insertMessage(MessageRecord(message: message, read: true, replyTo: replied)),
            .markRead(bot: bot, thread: thread, through: now),
            .append(NewEvent(.messagePosted(Fact.Post(message.id, bot: bot)), at: now)),
        ]
    }
}

extension ItemSnapshot {
    /// What a button asks for: it is about the run of the newest news of the job.
    fileprivate func press(_ key: String) -> JobPress? {
        guard case .job(let report) = content else { return nil }
        let run = JobPress.Run(job: report.job, ordinal: report.fact.run)
        return switch NoticeButton(rawValue: key) {
        case .runAgain: .runAgain(run)
        case .cancel: .cancel(run)
        case .pause: .setPaused(true, run)
        case .resume: .setPaused(false, run)
        default: nil
        }
    }

    /// What is to be seen in a terminal: the talk with the bot, or what the run printed.
    fileprivate var terminalCommand: [String]? {
        switch (key, content) {
        case (.thread(let bot, let thread), .messages(_, let last)):
            // In one word: a thread is called as somebody likes, and may begin with a hyphen.
            return ["chat", bot, "--thread=\(thread)"] + (last.last.map { ["--reply-to", $0.id] } ?? [])
        case (_, .job(let report)):
            let run = report.fact.run.map { "\(report.job)#\($0)" } ?? report.job
            return ["run", "logs", run, "--follow"]
        default: return nil
        }
    }

    /// What a button silences: the job of a notice, or the messages of its bot; for good all that the bot says.
    fileprivate func matchers(for duration: Duration, on channel: String) -> [Matcher] {
        var texts = [("channel", channel)]
        switch content {
        case _ where duration == NoticeButton.muteTime: texts.append(("bot", bot))
        case .job(let report): texts.append(("job", report.job))
        default: texts += [("bot", bot), ("event", RouteWord.message.rawValue)]
        }
        return texts.compactMap { try? Matcher($0, .equals, $1) }
    }
}
