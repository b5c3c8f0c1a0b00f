"""Fills a fresh pretix with one event on sale and one customer, as an organiser would by hand."""

import datetime
import os
from decimal import Decimal

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop_settings")
django.setup()

from django.db import transaction  # noqa: E402
from django.utils.timezone import now  # noqa: E402
from django_scopes import scope  # noqa: E402
from pretix.base.models import Customer, Event, Organizer, Question  # noqa: E402


def organiser():
    organizer = Organizer.objects.create(name="Museum", slug="museum")
    organizer.settings.customer_accounts = True
    return organizer


def customer(organizer):
    ada = Customer(organizer=organizer, email="ada@example.org", name_parts={"_scheme": "full", "full_name": "Ada"})
    ada.is_active = ada.is_verified = True
    ada.set_password("correct horse battery")
    ada.save()


def event(organizer):
    night = Event.objects.create(
        organizer=organizer,
        name="Night at the museum",
        slug="night",
        currency="EUR",
        date_from=now() + datetime.timedelta(days=365),
        plugins="remotepay",
        live=True,
    )
    night.settings.locales = ["en"]
    night.settings.invoice_address_asked = False
    night.settings.payment_remotepay__enabled = True
    return night


def catalogue(night):
    # Two products, or pretix would put the only one into the basket as the page opens.
    student = night.items.create(name="Student ticket", default_price=Decimal("9.50"), active=True)
    adult = night.items.create(name="Ticket", default_price=Decimal("19.00"), active=True)
    quota = night.quotas.create(name="All", size=500)
    quota.items.add(student, adult)
    card = night.questions.create(question="Student card", type=Question.TYPE_FILE, required=True)
    card.items.add(student)


with transaction.atomic():
    museum = organiser()
    with scope(organizer=museum):
        customer(museum)
        catalogue(event(museum))
