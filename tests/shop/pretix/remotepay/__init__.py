"""A pretix payment method whose provider is another site, which sends the customer back by a cross-site POST."""
