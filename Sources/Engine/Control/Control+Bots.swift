import Delivery
package import Ledger
import Logging
package import Performing
import Prompting
import Timeline
package import Tracking

extension Control {
    /// Tests a bot step by step, and with `asks` has it reply; what that shows of the bot is recorded.
    ///
    /// One that nobody described has no provider.
    package func test(bot name: String, asks: Bool) async throws(EngineError) -> BotTestResult {
        var result = BotTestResult()
        guard let contact = activeConfiguration.configuration.bots[name]?.contact else {
            result.note(
                .configuration, .failed, "it has no provider", hint: "set bots.\(name).backend")
            return result
        }
        if let fault = contact.fault {
            result.note(.configuration, .failed, fault, hint: "then load it again with: belfry reload")
            return result
        }
        var refusal: AttemptFault?
        if asks {
            do throws(AttemptFault) { _ = try await desk.bot(name) } catch { refusal = error }
        }
        result = await testBot(name, contact, asks && refusal == nil)
        if result.isGood, let refusal {
            result.note(.reply, .failed, String(refusal.text.dropFirst(name.count + 2)))
        }
        try await record(result, of: name)
        return result
    }

    private func record(_ result: BotTestResult, of name: String) async throws(EngineError) {
        let outcome: BotReply.Outcome
        if let fault = result.fault {
            outcome = .failed(fault.reason, fault.text)
        } else if result.whole != nil {
            outcome = .replied(first: result.firstWord, whole: result.whole)
        } else if result.hasAnswered {
            outcome = .answered
        } else {
            return
        }
        let now = clock.now
        let reply = BotReply(
            bot: name, month: desk.month(of: now).text, at: now, usage: result.usage, outcome: outcome)
        try await commit([.recordReply(reply)])
    }
}

/// Bots that are made on the command line: kept in the ledger, in the form that the configuration file has.
package struct BotMaking: Sendable {
    /// Reads a bot of the ledger; its key, where one is handed over, is not looked for in its file.
    ///
    /// It throws sentences that a person reads; with `leavesOut` a key that can't be read is the bot's fault.
    package typealias Reader =
        @Sendable (_ entry: BotEntry, _ key: String?, _ leavesOut: Bool) throws -> BotProfile

    let read: Reader
    /// The path of the file that keeps the key of a bot of that name.
    let keyPath: @Sendable (_ name: String) -> String
    /// Puts a key beside it, for nobody else to read; the one that is there stays in use.
    let draftKey: @Sendable (_ key: String, _ path: String) throws -> Void
    /// Puts that key in its place.
    let keepDraft: @Sendable (_ path: String) throws -> Void
    /// Removes that key; nothing happens where there is none.
    let dropDraft: @Sendable (_ path: String) -> Void
    /// Removes the key in use; nothing happens where there is none.
    let removeKey: @Sendable (_ path: String) throws -> Void

    package init(
        read: @escaping Reader, keyPath: @escaping @Sendable (_ name: String) -> String,
        draftKey: @escaping @Sendable (_ key: String, _ path: String) throws -> Void,
        keepDraft: @escaping @Sendable (_ path: String) throws -> Void,
        dropDraft: @escaping @Sendable (_ path: String) -> Void,
        removeKey: @escaping @Sendable (_ path: String) throws -> Void
    ) {
        self.read = read
        self.keyPath = keyPath
        self.draftKey = draftKey
        self.keepDraft = keepDraft
        self.dropDraft = dropDraft
        self.removeKey = removeKey
    }

    /// Makes none, where nobody can.
    package static let none = BotMaking(
        read: { _, _, _ in throw EngineError.starting }, keyPath: { $0 }, draftKey: { _, _ in },
        keepDraft: { _ in }, dropDraft: { _ in }, removeKey: { _ in })
}

extension Control {
    /// Adds a bot; its `key` goes into a file of the state, and nowhere else.
    package func addBot(
        _ name: String, _ settings: JSON, key: String?
    ) async throws(EngineError) {
        if let fault = JobName.fault(in: name) {
            throw .invalid("\"\(name)\" is not a valid bot name: \(fault)")
        }
        try await activeConfiguration.turnstile.pass { () async throws(EngineError) in
            if let bot = activeConfiguration.configuration.bots[name] {
                throw .botExists(name, place: bot.isOfLedger ? nil : bot.place)
            }
            try await store(
                BotEntry(name: name, settings: JSON.members([]).merging(settings)), key, replacing: nil)
        }
    }

    /// Changes the settings that `change` names; one that is null there is removed.
    package func editBot(
        _ name: String, _ change: JSON, key: String?
    ) async throws(EngineError) {
        try await activeConfiguration.turnstile.pass { () async throws(EngineError) in
            let old = try await ownEntry(name)
            var entry = old
            entry.settings = entry.settings.merging(change)
            entry.revision += 1
            try await store(entry, key, replacing: old.revision)
        }
    }

    /// Removes a bot; jobs that belong to it are a reason not to, unless `force`.
    package func removeBot(_ name: String, force: Bool) async throws(EngineError) {
        try await activeConfiguration.turnstile.pass { () async throws(EngineError) in
            let entry = try await ownEntry(name)
            if !force, await slots.countsOfBots()[name] ?? 0 > 0 {
                throw .botInUse(name, jobs: try await jobs(of: name))
            }
            try await commit([.removeBot(name: name, revision: entry.revision)])
            activeConfiguration.change { $0.bots[name] = nil }
            try removeKey(of: name, "removed")
        }
    }

    /// The configuration with the bots of the ledger; those of the files come first.
    func withLedgerBots(_ configuration: EngineConfiguration) async throws(LedgerError) -> EngineConfiguration
    {
        var configuration = configuration
        for entry in try await ledger.botEntries() where configuration.bots[entry.name] == nil {
            do {
                let bot = try bots.read(entry, nil, true)
                configuration.bots[entry.name] = bot
                if let fault = bot.contact?.fault {
                    configuration.leftOut.append(
                        LeftOut(.bot(entry.name), place: BotProfile.commandLine, reason: fault))
                }
            } catch {
                logger.error(
                    "a bot of the ledger can't be used",
                    metadata: ["bot": "\(entry.name)", "reason": "\(error)"])
            }
        }
        return configuration
    }

    /// The bots of the ledger whose names the files have, too.
    func botConflicts(with configuration: EngineConfiguration) async throws(LedgerError) -> [BotProfile] {
        try await ledger.botEntries().compactMap { configuration.bots[$0.name] }
    }

    /// The bot's provider with its key, if that can be read now.
    func reopened(_ name: String) async -> BotInUse? {
        guard activeConfiguration.configuration.bots[name]?.isOfLedger == true else {
            return await files.reopenBot(name)
        }
        guard let entry = try? await ledger.botEntries().first(where: { $0.name == name }) else { return nil }
        return try? bots.read(entry, nil, false).contact
    }

    // MARK: Steps

    private func store(
        _ entry: BotEntry, _ key: String?, replacing old: Int?
    ) async throws(EngineError) {
        var entry = entry
        let path = bots.keyPath(entry.name)
        if key != nil { entry.settings["key"] = .object(["file": .string(path)]) }
        let bot: BotProfile
        do { bot = try bots.read(entry, key, false) } catch { throw .invalid("\(error)") }
        if let key {
            do { try bots.draftKey(key, path) } catch {
                bots.dropDraft(path)
                throw .invalid("the key can't be kept: \(error)")
            }
        }
        do throws(EngineError) {
            try await commit([.putBot(entry, replacing: old)])
        } catch {
            bots.dropDraft(path)
            throw error
        }
        activeConfiguration.change { configuration in
            configuration.bots[entry.name] = bot
            configuration.leftOut.removeAll { $0.part == .bot(entry.name) }
        }
        let done = old == nil ? "added" : "changed"
        if key != nil {
            do { try bots.keepDraft(path) } catch {
                bots.dropDraft(path)
                throw .keyFile("\(done), but its key file \(path) could not be written: \(error)")
            }
        }
        if entry.settings["key"]?["file"]?.text != path { try removeKey(of: entry.name, done) }
    }

    /// Removes the file of a bot's key, which nothing names any more.
    private func removeKey(of name: String, _ done: String) throws(EngineError) {
        let path = bots.keyPath(name)
        do { try bots.removeKey(path) } catch {
            throw .keyFile("\(done), but its key file \(path) could not be deleted: \(error)")
        }
    }

    private func ownEntry(_ name: String) async throws(EngineError) -> BotEntry {
        let entries = try await read { () async throws(LedgerError) in try await ledger.botEntries() }
        let bot = activeConfiguration.configuration.bots[name]
        if let bot, !bot.isOfLedger { throw .botOfFile(name, place: bot.place ?? "") }
        guard let entry = entries.first(where: { $0.name == name }) else { throw .noSuchBot(name) }
        return entry
    }

    /// The names of the first jobs of a bot.
    private func jobs(of bot: String) async throws(EngineError) -> [String] {
        let shown = 5
        var (names, after) = ([String](), "")
        while names.count <= shown {
            let page = try await read { [after] () async throws(LedgerError) in
                try await ledger.jobs(after: after, limit: 512)
            }
            guard let last = page.last else { break }
            names += page.filter { $0.spec.bot == bot }.map(\.name)
            after = last.name
        }
        return names.count > shown ? Array(names.prefix(shown)) + ["…"] : names
    }
}

extension JSON {
    /// The settings with those of `change` in their place, part by part; what is null there is left out.
    fileprivate func merging(_ change: JSON) -> JSON {
        guard case .members(let members) = change else { return self }
        var merged = self
        for member in members {
            switch member.value {
            case .null: merged[member.name] = nil
            // A key comes from one place.
            case .members where member.name != "key":
                merged[member.name] = (merged[member.name] ?? .members([])).merging(member.value)
                if merged[member.name] == .members([]) { merged[member.name] = nil }
            default: merged[member.name] = member.value
            }
        }
        return merged
    }
}
