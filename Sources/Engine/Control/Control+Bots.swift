import Ledger
package import Performing
import Prompting
import Timeline
import Tracking

extension Control {
    /// Tests a bot step by step, and with `asks` has it reply; what that shows of the bot is recorded.
    ///
    /// One that nobody described has no provider.
    package func test(bot name: String, asks: Bool) async throws(EngineError) -> BotTrial {
        var trial = BotTrial()
        guard let contact = activeConfiguration.configuration.bots[name]?.contact else {
            trial.note(
                .configuration, .failed, "it has no provider", hint: "set bots.\(name).backend")
            return trial
        }
        if let fault = contact.fault {
            trial.note(.configuration, .failed, fault, hint: "then load it again with: belfry reload")
            return trial
        }
        var refusal: AttemptFault?
        if asks {
            do throws(AttemptFault) { _ = try await desk.bot(name) } catch { refusal = error }
        }
        trial = await testBot(name, contact, asks && refusal == nil)
        if trial.isGood, let refusal {
            trial.note(.reply, .failed, String(refusal.text.dropFirst(name.count + 2)))
        }
        try await record(trial, of: name)
        return trial
    }

    private func record(_ trial: BotTrial, of name: String) async throws(EngineError) {
        let outcome: BotReply.Outcome
        if let fault = trial.fault {
            outcome = .failed(fault.reason, fault.text)
        } else if trial.whole != nil {
            outcome = .replied(first: trial.firstWord, whole: trial.whole)
        } else if trial.hasAnswered {
            outcome = .answered
        } else {
            return
        }
        let now = clock.now
        let reply = BotReply(
            bot: name, month: desk.month(of: now).text, at: now, usage: trial.usage, outcome: outcome)
        try await commit([.recordReply(reply)])
    }
}
