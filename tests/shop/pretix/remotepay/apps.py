from pretix.base.plugins import PluginConfig


class RemotePayApp(PluginConfig):
    name = "remotepay"
    label = "remotepay"
    verbose_name = "Pay at another site"

    class PretixPluginMeta:
        name = "Pay at another site"
        author = "the tests"
        version = "1"
        category = "PAYMENT"
        description = "Sends the customer to a provider that sends them back by a POST."

    def ready(self):
        from . import signals  # noqa: F401
